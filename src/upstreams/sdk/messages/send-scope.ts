import { AsyncLocalStorage } from 'node:async_hooks';

/** Sends one message; the signal, where there is one, gives up waiting for its acceptance. */
export type Write = (signal?: AbortSignal) => Promise<void>;

/**
 * What becomes of the messages that the SDK sends for one call. The SDK does not say which call a
 * message is for; the asynchronous context does.
 */
type SendScope = (write: Write) => Promise<void>;

const storage = new AsyncLocalStorage<SendScope>();

export function inSendScope<T>(scope: SendScope, work: () => T): T {
  return storage.run(scope, work);
}

/** What belongs to no call is sent as it is. */
export function sendInScope(write: Write): Promise<void> {
  const scope = storage.getStore();
  // A socket that is opened here would keep the scope in memory for as long as it lives.
  return storage.exit(() => (scope === undefined ? write() : scope(write)));
}
