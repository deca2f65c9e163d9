/** A JSON pointer (RFC 6901) of these keys. */
export function toJsonPointer(keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
