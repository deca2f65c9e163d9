/** The items of each key, none of them empty, in the order in which they came. */
export function grouped<T>(items: readonly T[], keyOf: (item: T) => unknown): [T, ...T[]][] {
  const groups = new Map<unknown, [T, ...T[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group) group.push(item);
    else groups.set(keyOf(item), [item]);
  }
  return [...groups.values()];
}
