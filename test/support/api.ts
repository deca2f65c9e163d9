/** A response of the service, read whole. */
export interface ApiResponse {
  status: number;
  headers: Headers;
  body: any;
  text: string;
}

export interface ApiRequest {
  headers?: Record<string, string>;
  /** Aborting it closes the connection. */
  signal?: AbortSignal;
}

/** Speaks to the service over real HTTP with one key. */
export class Api {
  constructor(
    private readonly url: string,
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
    path: string,
    body: unknown,
    { headers, signal }: ApiRequest,
  ): Promise<ApiResponse> {
    const response = await fetch(this.url + path, {
      method,
      headers: {
        ...(this.key === undefined ? {} : { authorization: `Bearer ${this.key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    const text = await response.text();
    const isJson = (response.headers.get('content-type') ?? '').includes('json');
    const { status } = response;
    return { status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
  }
}
