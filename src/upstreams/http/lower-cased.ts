/** Header names do not depend on case: one spelling, so that a change finds the one that is meant. */
export function lowerCased<V>(headers: Record<string, V>): Record<string, V> {
  const entries = Object.entries(headers).map(([name, value]): [string, V] => [
    name.toLowerCase(),
    value,
  ]);
  return Object.fromEntries(entries);
}
