import { toStorableText } from '../../common/storable-text.js';

interface StoredFields<V> {
  title: string;
  headers?: Record<string, V>;
}

/** Header names do not depend on case: one spelling, so that a change finds the one that is meant. */
export function storedFields<V>({ title, headers }: StoredFields<V>): StoredFields<V> {
  return { title: toStorableText(title), headers: headers && lowerCased(headers) };
}

export function lowerCased<V>(headers: Record<string, V>): Record<string, V> {
  const entries = Object.entries(headers).map(([name, value]): [string, V] => [
    name.toLowerCase(),
    value,
  ]);
  return Object.fromEntries(entries);
}
