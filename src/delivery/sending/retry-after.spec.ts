import { describe, expect, it } from '@jest/globals';
import { retryAfterMs } from './retry-after.js';

const NOW = new Date('2026-01-31T12:00:00.000Z');

describe('Retry-After of a busy receiver', () => {
  it.each<[string | null, number]>([
    ['7', 7_000],
    [' 7 ', 7_000],
    ['0', 1_000],
    ['86400', 3_600_000],
    ['999999999', 3_600_000],
    ['Sat, 31 Jan 2026 12:00:30 GMT', 30_000],
    ['Sat, 31 Jan 2026 11:00:00 GMT', 1_000],
    ['Sun, 31 Jan 2027 12:00:00 GMT', 3_600_000],
    [null, 5_000],
    ['', 5_000],
    ['soon', 5_000],
    ['-1e400', 5_000],
  ])('%j waits %i ms', (header, waitMs) => {
    expect(retryAfterMs(header, NOW)).toBe(waitMs);
  });
});
