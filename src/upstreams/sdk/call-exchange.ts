import type { UpstreamFailure } from '../upstream-failure.js';

/**
 * The transport's side of one request: how it travels, how its cancellation is told, and what of it
 * may still be open after its end.
 */
export interface CallExchange {
  /** For the SDK, beside what every request has. */
  readonly sendOptions: { onresumptiontoken?: (eventId: string) => void };
  /** Resolves when the upstream knows the call: a cancellation that comes first would be lost. */
  readonly arrived: Promise<void>;
  /** Runs what makes the SDK send the request. */
  send<T>(request: () => T): T;
  /**
   * Runs what makes the SDK send the cancellation; resolves when that was told and the upstream has
   * closed what it had open, at the latest after some seconds.
   */
  cancel(tell: () => void): Promise<void>;
  /** Runs what makes the SDK tell the upstream something that it shall not be told. */
  silently(work: () => void): void;
  /** What the error of the request means. */
  toFailure(error: unknown): UpstreamFailure;
  /** The request has ended: what is still open is closed a second later. */
  end(): void;
  /** Closes what is open at once. */
  close(): void;
}
