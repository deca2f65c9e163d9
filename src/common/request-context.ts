import { AsyncLocalStorage } from 'node:async_hooks';

/** What belongs to the HTTP request that is being served. */
export interface RequestContext {
  requestId: string;
  /** Database statements caused so far; the promise that a foreground call causes none is tested with it. */
  statements: number;
}

const storage = new AsyncLocalStorage<RequestContext>();

export function runInRequestContext<T>(context: RequestContext, work: () => T): T {
  return storage.run(context, work);
}

/** Undefined outside of a request: timers, sweeps, start-up. */
export function currentRequestContext(): RequestContext | undefined {
  return storage.getStore();
}

/** Runs work that outlives the request, so that it is not counted or logged as part of it. */
export function outsideRequestContext<T>(work: () => T): T {
  return storage.exit(work);
}
