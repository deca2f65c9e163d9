import { AsyncLocalStorage } from 'node:async_hooks';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { ignore } from '../../../common/ignore.js';
import type { OutboundHttp } from '../../../outbound/outbound-http.js';
import { limited } from './body-limits.js';

/**
 * What becomes of the HTTP requests that the SDK makes for one call: its POST, and the GETs that
 * resume its stream. The SDK does not say which call a request is for; the asynchronous context does.
 */
export interface RequestScope {
  fetch(url: string | URL, init: RequestInit): Promise<Response>;
  /** The SDK sends a request of this id. */
  sent(requestId: unknown): void;
  /** A message of the upstream, before the SDK handles it. */
  received(message: JSONRPCMessage): void;
  /** The upstream has taken the answer to this request of its own. */
  answered(requestId: RequestId): void;
  /** The upstream could not be given the answer to this request of its own. */
  unanswered(requestId: RequestId, error: unknown): void;
  /** What the SDK tells its error handler while it works for this call. */
  failed(error: Error): void;
}

const storage = new AsyncLocalStorage<RequestScope>();

export function inScope<T>(scope: RequestScope, work: () => T): T {
  return storage.run(scope, work);
}

export function currentScope(): RequestScope | undefined {
  return storage.getStore();
}

/** The `fetch` for a transport of the SDK. What belongs to no call goes out as it is. */
export function scopedFetch(http: OutboundHttp) {
  return async (url: string | URL, init: RequestInit = {}): Promise<Response> => {
    const scope = storage.getStore();
    if (scope === undefined) return limited(await http.fetch(url, init));
    // A socket that is opened here would keep the scope in memory for as long as it lives.
    return storage.exit(() => scope.fetch(url, init));
  };
}

/** Answers in place of the upstream, which is told nothing. */
export const SILENT: RequestScope = {
  fetch: () => Promise.resolve(new Response(null, { status: 202 })),
  sent: ignore,
  received: ignore,
  answered: ignore,
  unanswered: ignore,
  failed: ignore,
};
