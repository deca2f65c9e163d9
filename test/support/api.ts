import { send, type TestResponse } from './http-client.js';

/** A response of the service, whose JSON is matched by the tests. */
export interface ApiResponse extends TestResponse {
  body: any;
}

export interface ApiRequest {
  headers?: Record<string, string>;
  /** Aborting it closes the connection. */
  signal?: AbortSignal;
}

/** Speaks to the service over real HTTP with one key. */
export class Api {
  /** `url` as a function is asked at each request. */
  constructor(
    private readonly url: string | (() => string),
    private readonly key: string | undefined,
  ) {}

  get(path: string, request: ApiRequest = {}): Promise<ApiResponse> {
    return this.send('GET', path, undefined, request);
  }

  post(path: string, body: unknown = {}, request: ApiRequest = {}): Promise<ApiResponse> {
    return this.send('POST', path, body, request);
  }

  patch(path: string, body: unknown, request: ApiRequest = {}): Promise<ApiResponse> {
    return this.send('PATCH', path, body, request);
  }

  delete(path: string): Promise<ApiResponse> {
    return this.send('DELETE', path, undefined, {});
  }

  /** `body` as a string is sent as it is. */
  private async send(
    method: string,
    url: string,
    body: unknown,
    { headers, signal }: ApiRequest,
  ): Promise<ApiResponse> {
    return send(typeof this.url === 'string' ? this.url : this.url(), {
      method,
      url,
      headers: {
        ...(this.key === undefined ? {} : { authorization: `Bearer ${this.key}` }),
        ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(typeof body === 'string' ? { payload: body } : { json: body }),
      ...(signal && { signal }),
    });
  }
}
