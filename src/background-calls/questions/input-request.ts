/** What an upstream wants to know in the middle of a call. */
export interface InputRequest {
  /** The number of the question within its call, from 1. */
  sequence: number;
  message: string;
  /** JSON Schema of the answer's content; may be anything, as it came from the upstream. */
  schema: Record<string, unknown>;
}

/** What the upstream is told; the values of `content` are those that were given. */
export type InputAnswer =
  | { action: 'accept'; content: Record<string, unknown> }
  | { action: 'decline' }
  | { action: 'cancel' };

/** Why nobody is asked any more. */
export type CloseReason = 'answered' | 'withdrawn' | 'call_ended' | 'owner_gone';

/** A question as it was left: the last one of its call. */
export interface StoredInputRequest extends InputRequest {
  closeReason: CloseReason | null;
  /** JSON text of an `InputAnswer`. */
  answer: string | null;
}
