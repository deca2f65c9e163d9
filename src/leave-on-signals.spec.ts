import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Clock } from './common/clock.js';
import { leaveOnSignals } from './leave-on-signals.js';

class StoppedClock extends Clock {
  ms = 0;
  now(): Date {
    return new Date(this.ms);
  }
  monotonicMs(): number {
    return this.ms;
  }
}

describe('the signals of a process', () => {
  const clock = new StoppedClock();
  let left: string[];
  let listeners: Record<string, unknown[]>;

  beforeEach(() => {
    left = [];
    listeners = { SIGINT: process.listeners('SIGINT'), SIGTERM: process.listeners('SIGTERM') };
    leaveOnSignals(
      clock,
      () => left.push('in order'),
      () => left.push('at once'),
    );
  });

  afterEach(() => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      for (const listener of process.listeners(signal))
        if (!listeners[signal]?.includes(listener)) process.off(signal, listener);
  });

  const receive = (signal: 'SIGINT' | 'SIGTERM', atMs: number): void => {
    clock.ms = atMs;
    for (const listener of process.listeners(signal))
      if (!listeners[signal]?.includes(listener)) listener(signal);
  };

  it('lead to leaving in order, once, however often npm doubles the first one', () => {
    receive('SIGINT', 1_000);
    receive('SIGINT', 1_002);
    receive('SIGTERM', 1_299);
    expect(left).toEqual(['in order']);
  });

  it('lead to leaving at once when one more follows', () => {
    receive('SIGTERM', 1_000);
    receive('SIGINT', 1_300);
    expect(left).toEqual(['in order', 'at once']);
  });
});
