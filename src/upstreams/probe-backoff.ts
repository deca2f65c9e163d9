const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;
/** Up to a fifth longer or shorter, so that servers that went away together are not all asked at once. */
const JITTER = 0.2;

/** Milliseconds until the next try after so many failures in a row; `chance` is from 0 to 1. */
export function probeBackoffMs(failures: number, chance: number): number {
  const waitMs = Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS);
  return Math.round(waitMs * (1 + JITTER * (2 * chance - 1)));
}
