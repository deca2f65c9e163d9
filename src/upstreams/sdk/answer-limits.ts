const ENVELOPE_BYTES = 64 * 1_024;

/** JSON is written by recursion: a few thousand levels that were read without trouble overflow the stack. */
export const MAX_LEVELS = 1_000;

/** What a message may have that is no result of a tool, such as a page of the tool list. */
export const MAX_OTHER_BYTES = 16 * 1_024 * 1_024;

/** A result of this size still fits, with what is around it. */
export function maxAnswerBytes(maxResultBytes: number): number {
  return maxResultBytes + ENVELOPE_BYTES;
}
