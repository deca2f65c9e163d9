import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/database.js';
import type { Notice, PlacedNotice } from './call-notice.js';
import type { Suppression } from './suppression.js';

interface NewNotification {
  id: string;
  targetId: number;
  notice: Notice;
}

// The place is taken under the target's lock: the order of places is the order of commits.
const PLACE = `
  WITH place AS (
    UPDATE targets
    SET next_sequence = targets.next_sequence + 1,
      undelivered_since = coalesce(targets.undelivered_since, now())
    WHERE targets.id = $2
    RETURNING targets.next_sequence - 1 AS sequence)
  INSERT INTO notifications (id, target_id, call_id, content, input_sequence, sequence)
  SELECT $1, $2, $3, $4, $5, place.sequence FROM place`;

const LIST_WAITING = `
  SELECT waiting.id, waiting.target_id AS "targetId", waiting.content
  FROM unnest($1::bigint[]) AS asked (target_id)
  CROSS JOIN LATERAL (
    SELECT notifications.id, notifications.target_id, notifications.content, notifications.sequence
    FROM notifications
    WHERE notifications.target_id = asked.target_id AND notifications.message_id IS NULL
      AND notifications.suppressed IS NULL
    ORDER BY notifications.sequence LIMIT $2) AS waiting
  ORDER BY waiting.target_id, waiting.sequence`;

const PUT_IN_MESSAGES = `
  UPDATE notifications
  SET message_id = told.message_id
  FROM unnest($1::uuid[], $2::uuid[]) AS told (id, message_id)
  WHERE notifications.id = told.id AND notifications.message_id IS NULL
  RETURNING notifications.id`;

const SUPPRESS_QUESTIONS = `
  UPDATE notifications
  SET suppressed = $2
  WHERE notifications.call_id = $1 AND notifications.input_sequence IS NOT NULL
    AND notifications.message_id IS NULL AND notifications.suppressed IS NULL
  RETURNING notifications.id`;

const SUPPRESS_END = `
  UPDATE notifications
  SET suppressed = $2
  WHERE notifications.call_id = $1 AND notifications.input_sequence IS NULL
    AND notifications.message_id IS NULL AND notifications.suppressed IS NULL
  RETURNING notifications.id`;

/** Notifications: what each ended or asking call has to tell, in the order of its target. */
@Injectable()
export class NotificationRepository {
  /** Gives the notification the next place of its target, whose lock the transaction holds. */
  async place(tx: Transaction, { id, targetId, notice }: NewNotification): Promise<void> {
    const inputSequence =
      notice.status === 'input_required' ? notice.inputRequest.sequence : undefined;
    const content = JSON.stringify(notice);
    await tx.query(PLACE, [id, targetId, notice.callId, content, inputSequence]);
  }

  /** The oldest `limit` notifications of each locked target that are in no message yet. */
  async listWaiting(
    tx: Transaction,
    targetIds: number[],
    limit: number,
  ): Promise<Map<number, PlacedNotice[]>> {
    const rows = await tx.query<{ id: string; targetId: number; content: string }>(LIST_WAITING, [
      targetIds,
      limit,
    ]);
    const waiting = new Map<number, PlacedNotice[]>();
    for (const { id, targetId, content } of rows) {
      const placed = { id, notice: JSON.parse(content) as Notice };
      waiting.set(targetId, [...(waiting.get(targetId) ?? []), placed]);
    }
    return waiting;
  }

  /** Questions of the call that are in no message yet; answers the ids of their notifications. */
  async suppressQuestions(tx: Transaction, callId: string, reason: Suppression): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(SUPPRESS_QUESTIONS, [callId, reason]);
    return rows.map(({ id }) => id);
  }

  /** The end of the call, when it is in no message yet; answers the ids of the notifications: one, or none. */
  async suppressEnd(tx: Transaction, callId: string, reason: Suppression): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(SUPPRESS_END, [callId, reason]);
    return rows.map(({ id }) => id);
  }

  /** Puts notifications into their messages, for good: one that is in a message never gets into another. */
  async putInMessages(tx: Transaction, told: { id: string; messageId: string }[]): Promise<void> {
    const rows = await tx.query(PUT_IN_MESSAGES, [
      told.map(({ id }) => id),
      told.map(({ messageId }) => messageId),
    ]);
    if (rows.length !== told.length)
      throw new Error('A notification is in a message although its target was locked.');
  }
}
