import { assertContract } from './contract.js';

export interface TestRequest {
  method?: string;
  url: string;
  headers?: Record<string, string>;
  /** Sent as it is. */
  payload?: string | Buffer;
  /** Sent as JSON. */
  json?: unknown;
  /** Aborting it closes the connection. */
  signal?: AbortSignal;
}

export interface TestResponse {
  status: number;
  headers: Headers;
  text: string;
  bytes: Buffer;
  /** The body where it is JSON. */
  body: unknown;
}

/**
 * Sends one request to a service under test and reads the whole answer, which has to be as the
 * contract says.
 */
export async function send(origin: string, request: TestRequest): Promise<TestResponse> {
  const { method = 'GET', url, headers = {}, payload, json, signal } = request;
  const body = json === undefined ? payload : JSON.stringify(json);
  const response = await fetch(origin + url, {
    method,
    headers: { ...(json !== undefined && { 'content-type': 'application/json' }), ...headers },
    body: body as RequestInit['body'],
    ...(signal && { signal }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const text = bytes.toString();
  // What the contract says of GET, without the body.
  const isHead = method === 'HEAD';
  const isJson = !isHead && (response.headers.get('content-type')?.includes('json') ?? false);
  const answer: TestResponse = {
    status: response.status,
    headers: response.headers,
    text,
    bytes,
    body: isJson ? (JSON.parse(text) as unknown) : undefined,
  };
  if (!isHead) assertContract(method, url, answer);
  return answer;
}
