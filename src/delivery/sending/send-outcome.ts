/** What became of one try, as it is written down. */
export const SEND_OUTCOMES = ['delivered', 'busy', 'gone', 'failed', 'aborted'] as const;

/** What an answer, or the lack of one, means for the message. */
export type SendOutcome =
  | { kind: 'delivered'; turnId: string | undefined }
  /** The receiver is there and wants it later. */
  | { kind: 'busy'; waitMs: number }
  /** Nobody will ever take it. */
  | { kind: 'gone' }
  | { kind: 'failed' }
  /** This process broke it off, or came too late to begin. */
  | { kind: 'aborted' };

/** One try of a webhook. */
export interface SendResult {
  outcome: SendOutcome;
  /** Null: there was no answer. */
  status: number | null;
  /** Null when there is nothing to complain about; never what the receiver said. */
  error: string | null;
  startedAt: Date;
  durationMs: number;
}
