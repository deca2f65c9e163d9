import { describe, expect, it } from '@jest/globals';
import { webhookBackoffMs } from './webhook-backoff.js';

describe('the wait after a webhook that failed', () => {
  it.each([
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [12, 2_048_000],
    [13, 3_600_000],
    [5_000, 3_600_000],
  ])('is, after %i failures in a row, %i ms', (failures, waitMs) => {
    expect(webhookBackoffMs(failures, 0.5)).toBe(waitMs);
  });

  it('is up to a fifth shorter or longer, but never longer than an hour', () => {
    expect([0, 1].map((chance) => webhookBackoffMs(3, chance))).toEqual([3_200, 4_800]);
    expect([0, 1].map((chance) => webhookBackoffMs(20, chance))).toEqual([2_880_000, 3_600_000]);
  });
});
