/** Everything that a run has seen, from all sides. Ids are UUIDs; times in ms of one clock, or of the database. */
export interface Evidence {
  /** Calls that were answered with 202. */
  accepted: AcceptedCall[];
  /** Messages as they reached a receiver that kept them, in that order. */
  receipts: Receipt[];
  /** How often the upstream was asked, by the name that each call has in its arguments. */
  executions: Map<string, number>;
  turns: TurnSpan[];
  /** Answers that were not as documented. */
  odd: string[];
  calls: CallRow[];
  notifications: NotificationRow[];
  messages: MessageRow[];
  callChanges: CallChange[];
  messageChanges: MessageChange[];
  instanceChanges: InstanceChange[];
  /** `backgroundCalls.maxPerTarget`. */
  maxPerTarget: number;
  /** What was left when all had ended, by name; what is 0 is as it should be. */
  left: Record<string, number>;
}

export interface AcceptedCall {
  id: string;
  sessionId: string;
  name: string;
}

export interface Receipt {
  messageId: string;
  sessionId: string;
  /** The bytes as they came. */
  body: string;
  text: string;
  told: ToldEnd[];
  /** When the receiver asked for it, if it did, and when it had it. */
  askedAtMs: number;
  gotAtMs: number;
}

/** One entry of `notifications` in the body of a message. */
export interface ToldEnd {
  notificationId: string;
  callId: string;
  /** As the text names it. */
  publicCallId: string;
  status: string;
  errorCode: string | undefined;
  preview: string | null;
}

/** The turn surely ran in between: after its start was answered, before its end was sent. */
export interface TurnSpan {
  sessionId: string;
  turnId: string;
  startedAtMs: number;
  endedAtMs: number;
}

export interface CallRow {
  id: string;
  sessionId: string;
  status: string;
  handover: string;
  name: string;
  errorCode: string | null;
  errorMessage: string | null;
  outcomeUnknown: boolean;
  resultPreview: string | null;
  endedAt: Date | null;
}

export interface NotificationRow {
  id: string;
  callId: string;
  sessionId: string;
  sequence: number;
  messageId: string | null;
  suppressed: string | null;
  /** It tells of a question, not of the end. */
  isQuestion: boolean;
}

export interface MessageRow {
  id: string;
  sessionId: string;
  state: string;
  body: string;
}

export interface CallChange {
  at: Date;
  actor: string;
  callId: string;
  statusBefore: string | null;
  status: string;
  ownerBefore: string | null;
  owner: string | null;
  ownerBeforeStands: boolean;
  ownerBeforeGoneAt: Date | null;
  cancelRequested: boolean;
  deadlinePassed: boolean;
  wasEnded: boolean;
  runningOfTarget: number;
}

export interface MessageChange {
  messageId: string;
  stateBefore: string | null;
  state: string;
  isHandOut: boolean;
  bodyChanged: boolean;
  /** The turn of the target that ran at that moment. */
  turnId: string | null;
}

export interface InstanceChange {
  at: Date;
  actor: string;
  instanceId: string;
  isBegin: boolean;
  leaseWasOver: boolean;
}
