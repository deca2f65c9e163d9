import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../../database/database.js';
import type { BackgroundCall } from '../background-call.js';
import { type BackgroundCallRow, CALL_COLUMNS, toBackgroundCall } from '../background-call.row.js';

/** A call that waits, with what its limits are counted by. */
interface QueueHead {
  id: string;
  appId: string;
  agentId: string | undefined;
}

const WAITING = `background_calls.status = 'queued' AND background_calls.cancel_requested_at IS NULL`;

// The one that was served longest ago comes first, so that a long queue of one session delays no other.
const NEXT_TARGET = `
  SELECT background_calls.target_id AS "targetId"
  FROM background_calls
  JOIN targets ON targets.id = background_calls.target_id
  WHERE ${WAITING} AND background_calls.target_id <> ALL($1::bigint[])
  GROUP BY background_calls.target_id, targets.queue_served_at
  ORDER BY targets.queue_served_at NULLS FIRST, min(background_calls.created_at)
  LIMIT 1`;

// The oldest of each agent: one whose agent is at its limit does not hold up those of others.
const HEADS = `
  SELECT heads.id, heads."appId", heads."agentId"
  FROM (
    SELECT DISTINCT ON (background_calls.agent_id) background_calls.id,
      background_calls.app_id AS "appId", background_calls.agent_id AS "agentId",
      background_calls.created_at
    FROM background_calls
    WHERE background_calls.target_id = $1 AND ${WAITING}
    ORDER BY background_calls.agent_id, background_calls.created_at, background_calls.id
  ) AS heads
  ORDER BY heads.created_at, heads.id`;

const HAS_WAITING = `
  SELECT EXISTS (
    SELECT FROM background_calls WHERE background_calls.target_id = $1 AND ${WAITING}
  ) AS "hasWaiting"`;

// A fenced process starts nothing: the guard is the row of its lease. The transaction may have waited for
// the target's lock, so its beginning is not the moment of the start.
const START = `
  UPDATE background_calls
  SET status = 'running', owner_id = $2, started_at = clock_timestamp(),
    deadline_at = clock_timestamp() + (background_calls.policy->>'maxHours')::float8 * interval '1 hour'
  FROM targets
  WHERE background_calls.id = $1 AND ${WAITING}
    AND EXISTS (SELECT FROM instances WHERE instances.id = $2)
    AND targets.id = background_calls.target_id
  RETURNING ${CALL_COLUMNS}`;

const MARK_SERVED = `
  UPDATE targets SET queue_served_at = now() WHERE targets.id = $1`;

/** The calls that wait: whose turn it is, and the move out of the queue. */
@Injectable()
export class QueuedCallRepository {
  /** The target whose turn it is, without those in `passedOver`; undefined when no other has a waiting call. */
  async nextTarget(db: Queryable, passedOver: number[]): Promise<number | undefined> {
    return (await db.query<{ targetId: number }>(NEXT_TARGET, [passedOver]))[0]?.targetId;
  }

  /** The oldest waiting call of each agent, oldest first. */
  async heads(tx: Transaction, targetId: number): Promise<QueueHead[]> {
    const rows = await tx.query<QueueHead & { agentId: string | null }>(HEADS, [targetId]);
    return rows.map((row) => ({ ...row, agentId: row.agentId ?? undefined }));
  }

  async hasWaiting(db: Queryable, targetId: number): Promise<boolean> {
    const [row] = await db.query<{ hasWaiting: boolean }>(HAS_WAITING, [targetId]);
    return row?.hasWaiting === true;
  }

  /** Undefined: the call does not wait any more, or this process is fenced. */
  async start(tx: Transaction, id: string, ownerId: string): Promise<BackgroundCall | undefined> {
    const [row] = await tx.query<BackgroundCallRow>(START, [id, ownerId]);
    return row && toBackgroundCall(row);
  }

  async markServed(tx: Transaction, targetId: number): Promise<void> {
    await tx.query(MARK_SERVED, [targetId]);
  }
}
