import { backoffMs, jittered } from '../../common/backoff.js';

const LIMITS = { firstMs: 1_000, longestMs: 3_600_000 };

/** Milliseconds until the next try after so many failures in a row, an hour at most; `chance` is from 0 to 1. */
export function webhookBackoffMs(failures: number, chance: number): number {
  return Math.min(jittered(backoffMs(failures, LIMITS), chance), LIMITS.longestMs);
}
