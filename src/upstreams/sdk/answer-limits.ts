const ENVELOPE_BYTES = 64 * 1_024;

/** JSON is written by recursion: a few thousand levels that were read without trouble overflow the stack. */
export const MAX_LEVELS = 1_000;

/** What a message may have that is no result of a tool, such as a page of the tool list. */
export const MAX_OTHER_BYTES = 16 * 1_024 * 1_024;

/**
 * How long is waited for the text of an answer whose status has said that something went wrong: a body that
 * stalls must not keep a call running, and the status is what counts.
 */
export const ERROR_BODY_MS = 3_000;

/** A result of this size still fits, with what is around it. */
export function maxAnswerBytes(maxResultBytes: number): number {
  return maxResultBytes + ENVELOPE_BYTES;
}
