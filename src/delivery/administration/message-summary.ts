import type { TargetAddress } from '../../targets/target-address.js';
import type { MessageKind } from '../message-kind.js';
import type { DeadReason, MessageState } from '../message-state.js';
import type { MessageAttempt } from '../webhook/message-attempt.repository.js';

/** A message as lists show it: without its body. Ids are UUIDs. */
export interface MessageSummary {
  id: string;
  appId: string;
  targetId: number;
  address: TargetAddress;
  kind: MessageKind;
  state: MessageState;
  /** Null unless it is a dead letter. */
  deadReason: DeadReason | null;
  /** Busy answers are not counted. */
  attempts: number;
  /** Webhook tries that failed, one after another. */
  failures: number;
  /** While it waits for the next try of its webhook. */
  nextAttemptAt: Date | null;
  /** It is sent again, and waits until the message that its target has out has ended. */
  heldBack: boolean;
  redeliveredAt: Date | null;
  createdAt: Date;
  /** The last time, also while it is sent again. */
  deliveredAt: Date | null;
  /** Of which it tells, oldest first. */
  callIds: string[];
}

export interface MessageDetails {
  summary: MessageSummary;
  /** The JSON that is handed out. */
  body: string;
  /** Tries of its webhook; those of a receiver that asks are only counted. */
  deliveries: MessageAttempt[];
}
