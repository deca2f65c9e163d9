/**
 * Makes text from outside storable in a PostgreSQL `text` column, which takes neither NUL nor lone
 * surrogates: both become U+FFFD. Whole results are kept as bytes instead and lose nothing.
 */
export function toStorableText(text: string): string {
  return text.replaceAll('\0', '\uFFFD').toWellFormed();
}

/** Cuts to at most `maxChars` UTF-16 units without splitting a surrogate pair. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splitsPair ? maxChars - 1 : maxChars);
}
