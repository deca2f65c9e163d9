import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../../database/database.js';
import {
  type LockedTarget,
  TARGET_COLUMNS,
  type TargetRow,
  toLockedTarget,
} from '../../targets/target.repository.js';
import { messageSourcesOf } from '../message-state.js';

/** A message that is pending again. */
export interface RedeliveredMessage {
  /** UUID. */
  id: string;
  targetId: number;
  /** UUIDs of the calls that it tells of. */
  callIds: string[];
}

/** Where a walk through dead letters has come to. */
export interface DeadLetter {
  /** UUID. */
  id: string;
  createdAt: Date;
}

// In the order of ids, so that two that lock several never wait for each other.
const LOCK_TARGETS = `
  SELECT ${TARGET_COLUMNS}
  FROM targets
  WHERE targets.id IN (SELECT messages.target_id FROM messages WHERE messages.id = ANY($1::uuid[]))
  ORDER BY targets.id
  FOR UPDATE OF targets`;

// The number of the hand-out grows: whoever still settles an earlier one has been overtaken.
const REDELIVER = `
  WITH asked AS (
    SELECT messages.id, row_number() OVER (
      PARTITION BY messages.target_id ORDER BY messages.created_at, messages.id) AS place
    FROM messages
    WHERE messages.id = ANY($1::uuid[]) AND messages.state = ANY($2::text[])),
  again AS (
    UPDATE messages
    SET state = 'pending', dead_reason = NULL, failures = 0, trying_since = now(),
      redelivered_at = now(), hand_outs = messages.hand_outs + 1,
      held_back = asked.place > 1 OR EXISTS (
        SELECT FROM messages AS front
        WHERE front.target_id = messages.target_id AND front.state = 'pending' AND NOT front.held_back)
    FROM asked
    WHERE messages.id = asked.id
    RETURNING messages.id, messages.target_id),
  waiting AS (
    UPDATE targets
    SET undelivered_since = coalesce(targets.undelivered_since, now())
    WHERE targets.id IN (SELECT again.target_id FROM again))
  SELECT again.id, again.target_id AS "targetId", ARRAY(
      SELECT notifications.call_id FROM notifications
      WHERE notifications.message_id = again.id ORDER BY notifications.sequence) AS "callIds"
  FROM again`;

// What a receiver has at this moment is left to it: only what waits for its next try is hurried.
const HURRY = `
  WITH hurried AS (
    UPDATE messages
    SET failures = 0, trying_since = now(), next_attempt_at = NULL, hand_outs = messages.hand_outs + 1
    WHERE messages.id = $1 AND messages.state = 'pending' AND messages.next_attempt_at IS NOT NULL
    RETURNING messages.target_id)
  UPDATE targets
  SET hidden_until = NULL
  FROM hurried
  WHERE targets.id = hurried.target_id
  RETURNING targets.id`;

const LIST_DEAD = `
  SELECT messages.id, messages.created_at AS "createdAt"
  FROM messages
  WHERE messages.state = 'dead' AND messages.created_at >= $1
    AND ($2::uuid IS NULL OR messages.app_id = $2)
    AND ($3::timestamptz IS NULL OR (messages.created_at, messages.id) > ($3, $4::uuid))
  ORDER BY messages.created_at, messages.id
  LIMIT $5`;

/** Messages that are sent again. */
@Injectable()
export class RedeliveryRepository {
  /** Locks the targets of the messages; unknown messages have none. */
  async lockTargets(tx: Transaction, messageIds: string[]): Promise<LockedTarget[]> {
    const rows = await tx.query<TargetRow>(LOCK_TARGETS, [messageIds]);
    return rows.map(toLockedTarget);
  }

  /**
   * Makes those pending again that are dead letters or delivered, under the locks of their targets. Behind a
   * message that is out, and behind an older one of these, a message is held back.
   */
  async redeliver(tx: Transaction, ids: string[]): Promise<RedeliveredMessage[]> {
    return tx.query<RedeliveredMessage>(REDELIVER, [ids, messageSourcesOf('pending')]);
  }

  /** Whether the message waited for its next try, which is due now; needs the lock of its target. */
  async hurry(tx: Transaction, id: string): Promise<boolean> {
    const rows = await tx.query(HURRY, [id]);
    return rows.length > 0;
  }

  /** The oldest dead letters that were made since then, behind `after`; of one app or of all. */
  async listDead(
    db: Queryable,
    { since, appId }: { since: Date; appId: string | undefined },
    after: DeadLetter | undefined,
    limit: number,
  ): Promise<DeadLetter[]> {
    return db.query<DeadLetter>(LIST_DEAD, [since, appId, after?.createdAt, after?.id, limit]);
  }
}
