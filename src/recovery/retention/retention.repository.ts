import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../../database/database.js';
import { TARGET_COLUMNS, type TargetRow, toTarget } from '../../targets/target.repository.js';
import type { Target } from '../../targets/target.repository.js';

/** Ended calls of one target that may be removed. */
export interface OldCalls {
  target: Target;
  /** UUIDs. */
  callIds: string[];
}

/** Bounds of one step. */
const CALLS = 200;
const MESSAGES = 500;
const EVENTS = 5_000;
const TARGETS = 500;

const OLDER = `now() - make_interval(secs => $1::float8 * 86400)`;

// A call whose end, or whose question, was not told to anybody is kept however old it is. A dead letter
// was not told either: it can be delivered again until somebody discards it.
const TOLD = `NOT EXISTS (
    SELECT FROM notifications
    LEFT JOIN messages ON messages.id = notifications.message_id
    WHERE notifications.call_id = background_calls.id AND notifications.suppressed IS NULL
      AND (messages.id IS NULL OR messages.state NOT IN ('delivered', 'discarded')))`;

const LIST_CALLS = `
  SELECT background_calls.id AS "callId", ${TARGET_COLUMNS}
  FROM background_calls
  JOIN targets ON targets.id = background_calls.target_id
  WHERE background_calls.ended_at < ${OLDER} AND background_calls.target_id <> ALL($2::bigint[])
    AND ${TOLD}
  ORDER BY background_calls.ended_at LIMIT ${CALLS}`;

// Its result, its questions and its notifications go with it.
const REMOVE_CALLS = `
  DELETE FROM background_calls
  WHERE background_calls.ended_at < ${OLDER} AND background_calls.id = ANY($2::uuid[]) AND ${TOLD}
  RETURNING background_calls.id`;

// Of a message that tells of several calls the last one takes it along.
const REMOVE_MESSAGES = `
  DELETE FROM messages
  WHERE messages.id IN (
    SELECT old.id FROM messages AS old
    WHERE old.created_at < ${OLDER} AND old.state IN ('delivered', 'discarded')
      AND NOT EXISTS (SELECT FROM notifications WHERE notifications.message_id = old.id)
    ORDER BY old.created_at LIMIT ${MESSAGES}
    FOR UPDATE SKIP LOCKED)
  RETURNING messages.id`;

// Events are as old as their numbers, about: only the first few are looked at.
const REMOVE_EVENTS = `
  DELETE FROM events
  WHERE events.id IN (SELECT first.id FROM events AS first ORDER BY first.id LIMIT ${EVENTS})
    AND events.created_at < ${OLDER}
    AND NOT EXISTS (SELECT FROM event_deliveries WHERE event_deliveries.event_id = events.id)
  RETURNING events.id`;

// Which turns have ended is forgotten with the target.
const REMOVE_TARGETS = `
  WITH looked AS (
    SELECT targets.id FROM targets WHERE targets.id > $2 ORDER BY targets.id LIMIT ${TARGETS}
  ), empty AS (
    SELECT targets.id FROM targets
    JOIN looked ON looked.id = targets.id
    WHERE targets.created_at < ${OLDER}
      AND (targets.turn_expires_at IS NULL OR targets.turn_expires_at < ${OLDER})
      AND NOT EXISTS (SELECT FROM background_calls WHERE background_calls.target_id = targets.id)
      AND NOT EXISTS (SELECT FROM notifications WHERE notifications.target_id = targets.id)
      AND NOT EXISTS (SELECT FROM messages WHERE messages.target_id = targets.id)
      AND NOT EXISTS (SELECT FROM events WHERE events.target_id = targets.id)
      AND NOT EXISTS (
        SELECT FROM ended_turns
        WHERE ended_turns.target_id = targets.id AND ended_turns.ended_at >= ${OLDER})
    FOR UPDATE OF targets SKIP LOCKED
  ), removed AS (
    DELETE FROM targets USING empty WHERE targets.id = empty.id RETURNING targets.id
  )
  SELECT (SELECT count(*) FROM removed) AS removed, count(*) AS looked, max(looked.id) AS last
  FROM looked`;

/** Finds and removes what is older than the retention; a step of each is bounded. */
@Injectable()
export class RetentionRepository {
  /** Some calls that ended more than `days` ago and were told, by target, without those of `passedOver`. */
  async listCalls(db: Queryable, days: number, passedOver: number[]): Promise<OldCalls[]> {
    const rows = await db.query<TargetRow & { callId: string }>(LIST_CALLS, [days, passedOver]);
    const byTarget = new Map<number, OldCalls>();
    for (const row of rows) {
      const old = byTarget.get(row.id) ?? { target: toTarget(row), callIds: [] };
      old.callIds.push(row.callId);
      byTarget.set(row.id, old);
    }
    return [...byTarget.values()];
  }

  /** Under the lock of their target, as somebody may deliver again. Answers how many. */
  async removeCalls(tx: Transaction, callIds: string[], days: number): Promise<number> {
    return (await tx.query(REMOVE_CALLS, [days, callIds])).length;
  }

  /** Messages of which no call is left. */
  async removeMessages(db: Queryable, days: number): Promise<number> {
    return (await db.query(REMOVE_MESSAGES, [days])).length;
  }

  async removeEvents(db: Queryable, days: number): Promise<number> {
    return (await db.query(REMOVE_EVENTS, [days])).length;
  }

  /** Targets of which nothing is left; looks at some after the row `after`, and then at the first again. */
  async removeTargets(
    db: Queryable,
    after: number,
    days: number,
  ): Promise<{ removed: number; lookedUpTo: number }> {
    const [row] = await db.query<{ removed: number; looked: number; last: number | null }>(
      REMOVE_TARGETS,
      [days, after],
    );
    const isLast = (row?.looked ?? 0) < TARGETS;
    return { removed: row?.removed ?? 0, lookedUpTo: isLast ? 0 : (row?.last ?? 0) };
  }
}
