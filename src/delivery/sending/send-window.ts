import type { Clock } from '../../common/clock.js';
import type { SendTimes } from './send-times.js';

/** The time in which this process alone may send what it has claimed. */
export class SendWindow {
  private readonly openedAtMs: number;

  /** To be opened before the claim, so that it ends no later here than in the database. */
  constructor(
    private readonly clock: Clock,
    private readonly times: SendTimes,
  ) {
    this.openedAtMs = clock.monotonicMs();
  }

  /** Milliseconds until the whole answer has to be there; 0 and less: it is too late to begin. */
  get leftToSendMs(): number {
    return this.openedAtMs + this.times.sendMs - this.clock.monotonicMs();
  }

  /** Whether what became of the try can still be written down before another process sends. */
  get isOpen(): boolean {
    return this.clock.monotonicMs() < this.openedAtMs + this.times.claimMs;
  }
}
