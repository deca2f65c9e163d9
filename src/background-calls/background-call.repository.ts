import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../database/database.js';
import type { BackgroundCall, HandoverRequest } from './background-call.js';
import { type BackgroundCallRow, CALL_COLUMNS, toBackgroundCall } from './background-call.row.js';
import type { CallEnding } from './call-ending.js';
import { sourcesOf } from './call-status.js';

/**
 * Who may end a call, beside the guard by state. Whoever finds zero rows changed has lost to somebody
 * else and must act as if it had never tried.
 */
const END_GUARDS = {
  // The owner, as long as nobody fenced it, and only while nobody asked for a cancel.
  owner: `c.cancel_requested_at IS NULL AND c.owner_id = $11
          AND EXISTS (SELECT 1 FROM instances AS i WHERE i.id = c.owner_id)`,
  // Anybody, once a cancel was asked for: a requested cancel beats every other ending.
  cancel: `c.cancel_requested_at IS NOT NULL AND $11::uuid IS NULL`,
  // Anybody, once the deadline has passed on the database's clock.
  deadline: `c.cancel_requested_at IS NULL AND c.deadline_at <= now() AND $11::uuid IS NULL`,
  // Anybody, when the owner was fenced or has left.
  'dead-owner': `c.cancel_requested_at IS NULL AND $11::uuid IS NULL
          AND NOT EXISTS (SELECT 1 FROM instances AS i WHERE i.id = c.owner_id)`,
} as const;

export type EndGuard = keyof typeof END_GUARDS;

const endStatement = (guard: EndGuard): string => `
WITH c AS (
  UPDATE background_calls AS c
  SET status = $3, ended_at = now(), error_code = $4, error_message = $5, outcome_unknown = $6,
      result_preview = $7, result_is_error = $8, result_bytes = $9, result_truncated = $10
  WHERE c.id = $1 AND c.status = ANY($2) AND ${END_GUARDS[guard]}
  RETURNING c.*)
SELECT ${CALL_COLUMNS} FROM c JOIN targets AS t ON t.id = c.target_id`;

// A lost lease inserts nothing: a call that nobody owns would be swept as interrupted.
const INSERT_RUNNING = `
WITH c AS (
  INSERT INTO background_calls AS c
    (id, app_id, target_id, status, handover, owner_id, agent_id, turn_id, tool_call_id,
     server_id, server_name, server_title, tool, arguments, policy, progress, progress_at,
     traceparent, started_at, dispatched_at, deadline_at)
  SELECT $1::uuid, $2::uuid, $3::bigint, 'running', $4, $5::uuid, $6, $7, $8, $9::uuid, $10, $11,
     $12, $13, $14::jsonb, $15,
     CASE WHEN $15::text IS NULL THEN NULL ELSE now() END, $16,
     now() - COALESCE($17::float8, 0) * interval '1 ms',
     CASE WHEN $17::float8 IS NULL THEN NULL ELSE now() END,
     now() + $18::float8 * interval '1 hour'
  WHERE EXISTS (SELECT 1 FROM instances AS i WHERE i.id = $5)
  RETURNING c.*)
SELECT ${CALL_COLUMNS} FROM c JOIN targets AS t ON t.id = c.target_id`;

const FIND = `
SELECT ${CALL_COLUMNS} FROM background_calls AS c JOIN targets AS t ON t.id = c.target_id
WHERE c.id = $1`;

const INSERT_RESULT = `INSERT INTO call_results (call_id, body) VALUES ($1, $2)`;
const FIND_RESULT = `SELECT r.body FROM call_results AS r WHERE r.call_id = $1`;

// Written before the upstream is asked. Zero rows: do not ask it any more.
const MARK_DISPATCHED = `
UPDATE background_calls AS c SET dispatched_at = now()
WHERE c.id = $1 AND c.owner_id = $2 AND c.status = 'running' AND c.cancel_requested_at IS NULL
RETURNING c.id`;

const REQUEST_CANCEL = `
WITH c AS (
  UPDATE background_calls AS c SET cancel_requested_at = COALESCE(c.cancel_requested_at, now())
  WHERE c.id = $1 AND c.status = ANY($2)
  RETURNING c.*)
SELECT ${CALL_COLUMNS} FROM c JOIN targets AS t ON t.id = c.target_id`;

const WRITE_PROGRESS = `
UPDATE background_calls AS c SET progress = p.progress, progress_at = now()
FROM unnest($1::uuid[], $2::text[]) AS p (id, progress)
WHERE c.id = p.id AND c.owner_id = $3 AND c.ended_at IS NULL`;

/** The moves of a call; lists and look-ups for the API are in `background-call.reader.ts`. */
@Injectable()
export class BackgroundCallRepository {
  /** Undefined: this process is fenced and may own nothing. */
  async insertRunning(
    tx: Transaction,
    request: HandoverRequest,
    targetId: number,
    ownerId: string,
  ): Promise<BackgroundCall | undefined> {
    const { server } = request;
    return first(
      await tx.query<BackgroundCallRow>(INSERT_RUNNING, [
        ...[request.id, request.appId, targetId, request.handover, ownerId],
        ...[request.agentId, request.turnId, request.toolCallId],
        ...[server.id, server.name, server.title, request.tool, request.arguments, request.policy],
        request.progress && JSON.stringify(request.progress),
        ...[request.traceparent, request.runningForMs, request.policy.maxHours],
      ]),
    );
  }

  async find(db: Queryable, id: string): Promise<BackgroundCall | undefined> {
    return first(await db.query<BackgroundCallRow>(FIND, [id]));
  }

  /** The terminal move; undefined when the call is not in a state, or not in hands, that allow it. */
  async end(
    tx: Transaction,
    id: string,
    ending: CallEnding,
    guard: EndGuard,
    ownerId: string | null,
  ): Promise<BackgroundCall | undefined> {
    const { error, result } = ending;
    const rows = await tx.query<BackgroundCallRow>(endStatement(guard), [
      ...[id, sourcesOf(ending.status), ending.status],
      ...[error?.code ?? null, error?.message ?? null, ending.outcomeUnknown],
      ...[result?.preview ?? null, result?.isError ?? null],
      ...[result?.bytes ?? null, result?.truncated ?? null, ownerId],
    ]);
    if (rows.length > 0 && result) await tx.query(INSERT_RESULT, [id, result.body]);
    return first(rows);
  }

  /** False: the call was cancelled, ended or taken over, so the upstream must not be asked. */
  async markDispatched(db: Queryable, id: string, ownerId: string): Promise<boolean> {
    return (await db.query(MARK_DISPATCHED, [id, ownerId])).length === 1;
  }

  /** Undefined when the call has ended; the first request's time stays. */
  async requestCancel(tx: Transaction, id: string): Promise<BackgroundCall | undefined> {
    return first(await tx.query<BackgroundCallRow>(REQUEST_CANCEL, [id, sourcesOf('cancelled')]));
  }

  /** Writes the progress of many calls in one statement. */
  async writeProgress(
    db: Queryable,
    progress: Map<string, object>,
    ownerId: string,
  ): Promise<void> {
    const texts = [...progress.values()].map((value) => JSON.stringify(value));
    await db.query(WRITE_PROGRESS, [[...progress.keys()], texts, ownerId]);
  }

  /** The whole result as the bytes of its JSON. */
  async findResult(db: Queryable, id: string): Promise<Buffer | undefined> {
    return (await db.query<{ body: Buffer }>(FIND_RESULT, [id]))[0]?.body;
  }
}

function first(rows: BackgroundCallRow[]): BackgroundCall | undefined {
  return rows[0] && toBackgroundCall(rows[0]);
}
