/** Whether the JSON value is an object or a list. */
export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Level by level instead of by recursion, which a hostile depth would turn into a stack overflow. */
export function isDeeperThan(limit: number, value: unknown): boolean {
  let level = [value].filter(isContainer);
  for (let depth = 0; depth < limit; depth++) {
    if (level.length === 0) return false;
    level = level.flatMap((container) => Object.values(container).filter(isContainer));
  }
  return level.length > 0;
}
