export interface TestRequest {
  method?: string;
  url: string;
  headers?: Record<string, string>;
  /** Sent as it is. */
  payload?: string | Buffer;
  /** Sent as JSON. */
  json?: unknown;
}

export interface TestResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The body where it is JSON. */
  body: unknown;
}

/** Sends one request to a service under test and reads the whole answer. */
export async function send(origin: string, request: TestRequest): Promise<TestResponse> {
  const { method = 'GET', url, headers = {}, payload, json } = request;
  const body = json === undefined ? payload : JSON.stringify(json);
  const response = await fetch(origin + url, {
    method,
    headers: { ...(json !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: body as RequestInit['body'],
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson ? (JSON.parse(text) as unknown) : undefined,
  };
}
