import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/database.js';
import type { HandedOutMessage } from '../message.repository.js';

const FIND = `
  SELECT messages.failures,
    (extract(epoch FROM now() - messages.trying_since) * 1000)::float8 AS "ageMs"
  FROM messages
  WHERE messages.id = $1 AND messages.state = 'pending' AND messages.hand_outs = $2
    AND messages.next_attempt_at IS NULL`;

const WAIT_AFTER_FAILURE = `
  UPDATE messages
  SET failures = messages.failures + 1,
    next_attempt_at = now() + make_interval(secs => $2)
  WHERE messages.id = $1`;

const WAIT_FOR_BUSY = `
  UPDATE messages
  SET attempts = messages.attempts - 1, failures = 0, trying_since = now(),
    next_attempt_at = now() + make_interval(secs => $2)
  WHERE messages.id = $1`;

// What is out is left alone. The lock is a statement of its own: what is claimed or settled while it
// waits is seen by the statements after it.
const LOCK_WAITING = `
  SELECT targets.id
  FROM targets
  JOIN messages ON messages.target_id = targets.id AND messages.state = 'pending'
    AND NOT messages.held_back
  WHERE targets.app_id = $1 AND targets.undelivered_since IS NOT NULL
  ORDER BY targets.id
  FOR UPDATE OF targets`;

const BEGIN_ANEW = `
  WITH waiting AS (
    SELECT messages.id, messages.target_id, messages.next_attempt_at IS NOT NULL AS waits
    FROM messages
    WHERE messages.target_id = ANY($1::bigint[]) AND messages.state = 'pending'
      AND NOT messages.held_back),
  shown AS (
    UPDATE targets SET hidden_until = NULL
    FROM waiting
    WHERE targets.id = waiting.target_id AND waiting.waits)
  UPDATE messages
  SET failures = 0, trying_since = now(), next_attempt_at = NULL
  FROM waiting
  WHERE messages.id = waiting.id`;

/** Messages whose webhook is tried; what writes needs the lock of the target. */
@Injectable()
export class TriedMessageRepository {
  /** Undefined when this very hand-out is not the last one any more, or has been settled. */
  async find(
    tx: Transaction,
    { id, handOut }: HandedOutMessage,
  ): Promise<{ failures: number; ageMs: number } | undefined> {
    const [row] = await tx.query<{ failures: number; ageMs: number }>(FIND, [id, handOut]);
    return row;
  }

  /** Busy was no failure: the try is not counted, and the age begins anew. */
  async wait(tx: Transaction, id: string, waitSec: number, isBusy: boolean): Promise<void> {
    await tx.query(isBusy ? WAIT_FOR_BUSY : WAIT_AFTER_FAILURE, [id, waitSec]);
  }

  /** All pending messages of the app have failed never, and those that wait for a try are due. */
  async beginAnew(tx: Transaction, appId: string): Promise<void> {
    const targets = await tx.query<{ id: number }>(LOCK_WAITING, [appId]);
    if (targets.length > 0) await tx.query(BEGIN_ANEW, [targets.map(({ id }) => id)]);
  }
}
