import { backoffMs } from '../../common/backoff.js';
import type { Clock } from '../../common/clock.js';
import { UpstreamFailure } from '../upstream-failure.js';

const LIMITS = { firstMs: 1_000, longestMs: 60_000 };

/** Holds back the starts of a program that fails to start: 1, 2, 4 … s after each failure, 60 s at most. */
export class StartBackoff {
  /** Undefined when the next start may be tried at once. */
  nextTryAt: Date | undefined;
  private failures = 0;
  private notBeforeMs = 0;
  private lastError = '';

  constructor(private readonly clock: Clock) {}

  failed({ message }: UpstreamFailure): void {
    this.failures += 1;
    const waitMs = backoffMs(this.failures, LIMITS);
    this.lastError = message.replace(/\.?$/, '.');
    this.notBeforeMs = this.clock.monotonicMs() + waitMs;
    this.nextTryAt = new Date(this.clock.now().getTime() + waitMs);
  }

  /** What failed before still counts for the next wait. */
  release(): void {
    this.nextTryAt = undefined;
  }

  /** @throws UpstreamFailure `upstream_unreachable` while no start shall be tried. */
  check(): void {
    if (this.nextTryAt === undefined || this.clock.monotonicMs() >= this.notBeforeMs) return;
    const next = this.nextTryAt.toISOString();
    throw new UpstreamFailure(
      'upstream_unreachable',
      `${this.lastError} The next try is at ${next}.`,
    );
  }
}
