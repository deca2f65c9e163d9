import { SystemClock } from '../../src/common/clock.js';

/** A clock that the test moves on. */
export class MovedClock extends SystemClock {
  aheadMs = 0;

  override monotonicMs(): number {
    return super.monotonicMs() + this.aheadMs;
  }
}
