import { describe, expect, it } from '@jest/globals';
import { TurnCache } from './turn-cache.js';

const RUNNING = { targetId: 1, state: 'running' } as const;

describe('what is known of turns', () => {
  it('is fresh for a time, and longer after a renewal', () => {
    const cache = new TurnCache();
    cache.remember('a', RUNNING, 100, cache.epoch);
    expect(cache.find('a', 99)).toEqual(RUNNING);
    expect(cache.find('a', 100)).toBeUndefined();
    cache.refresh('a', 200);
    expect(cache.find('a', 199)).toEqual(RUNNING);
  });

  it('keeps an interruption, also against an answer that is older than it', () => {
    const cache = new TurnCache();
    const askedIn = cache.epoch;
    cache.markInterrupted('a');
    cache.remember('a', RUNNING, 100, askedIn);
    expect(cache.find('a', 0)).toBeUndefined();
    expect(cache.isInterrupted('a')).toBe(true);
  });

  it('does not take an answer that was asked for before everything was dropped', () => {
    const cache = new TurnCache();
    const askedIn = cache.epoch;
    cache.clear();
    cache.remember('a', RUNNING, 100, askedIn);
    expect(cache.find('a', 0)).toBeUndefined();
  });

  it('is bounded: the oldest goes first', () => {
    const cache = new TurnCache();
    for (let turn = 0; turn <= 10_000; turn++) cache.remember(`${turn}`, RUNNING, 100, cache.epoch);
    expect(cache.find('0', 0)).toBeUndefined();
    expect(cache.find('1', 0)).toEqual(RUNNING);
  });
});
