/** Why something that waited to be told never will be. */
export const SUPPRESSIONS = [
  /** Whoever it was for has the result already. */
  'already_read',
  'already_answered',
  /** The upstream does not want to know any more, or asks again. */
  'question_withdrawn',
  'call_ended',
] as const;
export type Suppression = (typeof SUPPRESSIONS)[number];
