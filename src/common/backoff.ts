/** The first wait and the longest one, in milliseconds. */
export interface BackoffLimits {
  firstMs: number;
  longestMs: number;
}

/** Milliseconds to wait after so many failures in a row, at least one: twice as long after each. */
export function backoffMs(failures: number, { firstMs, longestMs }: BackoffLimits): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs);
}
