import { backoffMs, jittered } from '../../common/backoff.js';

const LIMITS = { firstMs: 1_000, longestMs: 60_000 };

/** Milliseconds until the next try after so many failures in a row; `chance` is from 0 to 1. */
export function probeBackoffMs(failures: number, chance: number): number {
  return jittered(backoffMs(failures, LIMITS), chance);
}
