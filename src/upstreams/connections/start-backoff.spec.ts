import { describe, expect, it } from '@jest/globals';
import { Clock } from '../../common/clock.js';
import { StartBackoff } from './start-backoff.js';
import { UpstreamFailure } from '../upstream-failure.js';

class TestClock extends Clock {
  ms = 0;
  now = (): Date => new Date(this.ms);
  monotonicMs = (): number => this.ms;
}

describe('A program that fails to start', () => {
  const failure = new UpstreamFailure('upstream_unreachable', 'no licence');

  it('is held back for 1, 2, 4 … s and never for more than 60 s', () => {
    const clock = new TestClock();
    const backoff = new StartBackoff(clock);
    const waits = Array.from({ length: 9 }, () => {
      backoff.failed(failure);
      const began = clock.ms;
      clock.ms = backoff.nextTryAt!.getTime() - 1;
      expect(() => backoff.check()).toThrow(/^no licence\. The next try is at 19.*Z\.$/);
      clock.ms += 1;
      backoff.check();
      return (clock.ms - began) / 1_000;
    });
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  it('may be tried at once by whoever asks for it, and is held back for longer then', () => {
    const clock = new TestClock();
    const backoff = new StartBackoff(clock);
    backoff.failed(failure);
    backoff.release();
    backoff.check();
    backoff.failed(failure);
    expect(backoff.nextTryAt).toEqual(new Date(2_000));
  });
});
