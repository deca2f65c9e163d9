import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Clock } from '../common/clock.js';
import { DatabaseLook } from './database-look.js';

class HandClock extends Clock {
  nowMs = 0;
  now(): Date {
    return new Date(this.nowMs);
  }
  monotonicMs(): number {
    return this.nowMs;
  }
}

describe('a look at the database', () => {
  let clock: HandClock;
  let reads: number;
  let answer: () => Promise<string>;
  let look: DatabaseLook<string>;

  beforeEach(() => {
    jest.useFakeTimers();
    clock = new HandClock();
    reads = 0;
    answer = () => Promise.resolve('there');
    look = new DatabaseLook(clock, () => {
      reads += 1;
      return answer();
    });
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it('is kept for 5 seconds, however many ask', async () => {
    expect(await Promise.all([look.value(), look.value()])).toEqual(['there', 'there']);
    clock.nowMs = 4_999;
    await look.value();
    expect(reads).toBe(1);
    clock.nowMs = 5_000;
    await look.value();
    expect(reads).toBe(2);
  });

  it('keeps for as long that the database is away, and forgets what it said before', async () => {
    await look.value();
    clock.nowMs = 5_000;
    answer = () => Promise.reject(new Error('away'));
    expect(await look.value()).toBeUndefined();
    answer = () => Promise.resolve('back');
    clock.nowMs = 9_999;
    expect(await look.value()).toBeUndefined();
    clock.nowMs = 10_000;
    expect(await look.value()).toBe('back');
  });

  it('answers within a second while the database hangs, and asks it no second time', async () => {
    let answerLate: (text: string) => void = () => undefined;
    answer = () => new Promise((resolve) => (answerLate = resolve));
    const first = look.value();
    await jest.advanceTimersByTimeAsync(900);
    expect(await first).toBeUndefined();
    const second = look.value();
    answerLate('late');
    expect(await second).toBe('late');
    expect(reads).toBe(1);
  });
});
