import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../../database/database.js';
import type { HandedOutMessage } from '../message.repository.js';
import type { SendOutcome, SendResult } from '../sending/send-outcome.js';

/** One try of a webhook, as it was written down. */
export interface MessageAttempt {
  /** Which hand-out of the message it was, from 1. */
  number: number;
  startedAt: Date;
  durationMs: number;
  outcome: SendOutcome['kind'];
  /** Null: there was no answer. */
  httpStatus: number | null;
  error: string | null;
}

/** How many tries of a message are kept: a busy receiver may be asked every second for days. */
const KEPT = 50;

const INSERT = `
  INSERT INTO message_attempts
    (message_id, number, started_at, duration_ms, outcome, http_status, error)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;

const PRUNE = `
  DELETE FROM message_attempts
  WHERE message_attempts.message_id = $1 AND message_attempts.number <= $2`;

const LIST = `
  SELECT message_attempts.number, message_attempts.started_at AS "startedAt",
    message_attempts.duration_ms AS "durationMs", message_attempts.outcome,
    message_attempts.http_status AS "httpStatus", message_attempts.error
  FROM message_attempts
  WHERE message_attempts.message_id = $1
  ORDER BY message_attempts.number`;

/** What became of the tries of a message. */
@Injectable()
export class MessageAttemptRepository {
  /** Writes a try down, under the lock of the message's target; the oldest ones go. */
  async record(
    tx: Transaction,
    { id, handOut }: HandedOutMessage,
    { startedAt, durationMs, outcome, status, error }: SendResult,
  ): Promise<void> {
    await tx.query(INSERT, [id, handOut, startedAt, durationMs, outcome.kind, status, error]);
    if (handOut > KEPT) await tx.query(PRUNE, [id, handOut - KEPT]);
  }

  /** The last tries of a message, in their order; at most 50. */
  async list(db: Queryable, messageId: string): Promise<MessageAttempt[]> {
    return db.query<MessageAttempt>(LIST, [messageId]);
  }
}
