import type { Dispatcher } from 'undici';
import { isBlockedPort } from './blocked-ports.js';

/** What a request says when its sender does not. */
const DEFAULT_HEADERS = {
  accept: '*/*',
  'accept-encoding': 'gzip, deflate',
  'user-agent': 'background-calls',
};

/**
 * The request for a dispatcher, looked at as `fetch` does.
 * @throws TypeError what no `fetch` would send
 */
export function toDispatch(url: string | URL, init: RequestInit): Dispatcher.DispatchOptions {
  const to = new URL(url);
  if (to.protocol !== 'http:' && to.protocol !== 'https:')
    throw new TypeError(`a request to ${to.protocol} is not sent`);
  if (to.username !== '' || to.password !== '')
    throw new TypeError('a request whose URL holds credentials is not sent');
  if (isBlockedPort(to.port))
    throw new TypeError(`port ${to.port} is of another protocol: no request is sent there`);
  to.hash = '';
  const headers = new Headers(init.headers);
  for (const [name, value] of Object.entries(DEFAULT_HEADERS))
    if (!headers.has(name)) headers.set(name, value);
  return {
    origin: to.origin,
    path: to.href.slice(to.origin.length),
    method: (init.method ?? 'GET').toUpperCase(),
    headers: Object.fromEntries(headers),
    body: toBody(init.body),
  };
}

function toBody(body: unknown): string | Uint8Array | null {
  if (body === undefined || body === null) return null;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  throw new TypeError('a body is text or bytes');
}
