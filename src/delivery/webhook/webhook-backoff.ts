import { backoffMs } from '../../common/backoff.js';

const LIMITS = { firstMs: 1_000, longestMs: 3_600_000 };
/** Up to a fifth longer or shorter, so that what failed together is not all tried again at once. */
const JITTER = 0.2;

/** Milliseconds until the next try after so many failures in a row, an hour at most; `chance` is from 0 to 1. */
export function webhookBackoffMs(failures: number, chance: number): number {
  const waitMs = backoffMs(failures, LIMITS) * (1 + JITTER * (2 * chance - 1));
  return Math.min(Math.round(waitMs), LIMITS.longestMs);
}
