import { backoffMs } from '../../common/backoff.js';

const LIMITS = { firstMs: 1_000, longestMs: 60_000 };
/** Up to a fifth longer or shorter, so that servers that went away together are not all asked at once. */
const JITTER = 0.2;

/** Milliseconds until the next try after so many failures in a row; `chance` is from 0 to 1. */
export function probeBackoffMs(failures: number, chance: number): number {
  const waitMs = backoffMs(failures, LIMITS);
  return Math.round(waitMs * (1 + JITTER * (2 * chance - 1)));
}
