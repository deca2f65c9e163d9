/** Why something that waited to be told never will be. */
export type Suppression =
  | 'already_answered'
  /** The upstream does not want to know any more, or asks again. */
  | 'question_withdrawn'
  | 'call_ended';
