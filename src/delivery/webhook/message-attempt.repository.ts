import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/database.js';
import type { HandedOutMessage } from '../message.repository.js';
import type { SendResult } from './send-outcome.js';

/** How many tries of a message are kept: a busy receiver may be asked every second for days. */
const KEPT = 50;

const INSERT = `
  INSERT INTO message_attempts
    (message_id, number, started_at, duration_ms, outcome, http_status, error)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;

const PRUNE = `
  DELETE FROM message_attempts
  WHERE message_attempts.message_id = $1 AND message_attempts.number <= $2`;

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
}
