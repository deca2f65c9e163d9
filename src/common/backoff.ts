import { randomInt } from 'node:crypto';

/** The first wait and the longest one, in milliseconds. */
interface BackoffLimits {
  firstMs: number;
  longestMs: number;
}

/** Up to a fifth longer or shorter, so that what failed together is not all tried again at once. */
const JITTER = 0.2;
const CHANCES = 1_000;

/** Milliseconds to wait after so many failures in a row, at least one: twice as long after each. */
export function backoffMs(failures: number, { firstMs, longestMs }: BackoffLimits): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs);
}

/** Whole milliseconds: a fifth less for a chance of 0, a fifth more for one of 1. */
export function jittered(waitMs: number, chance: number): number {
  return Math.round(waitMs * (1 + JITTER * (2 * chance - 1)));
}

/** Evenly from 0 to 1, both included. */
export function drawChance(): number {
  return randomInt(CHANCES + 1) / CHANCES;
}
