import { toStorableText } from '../../common/storable-text.js';

/** Header names do not depend on case: one spelling, so that a change finds the one that is meant. */
export function toStoredFields<V extends string | null>(given: {
  title: string;
  headers: Record<string, V>;
}): { title: string; headers: Record<string, V> } {
  return { title: toStorableText(given.title), headers: lowerCased(given.headers) };
}

export function lowerCased<V>(headers: Record<string, V>): Record<string, V> {
  const entries = Object.entries(headers).map(([name, value]): [string, V] => [
    name.toLowerCase(),
    value,
  ]);
  return Object.fromEntries(entries);
}
