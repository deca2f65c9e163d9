import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../database/database.js';
import type { BackgroundCall, HandoverRequest } from './background-call.js';
import { type BackgroundCallRow, CALL_COLUMNS, toBackgroundCall } from './background-call.row.js';
import type { CallEnding } from './call-ending.js';
import { sourcesOf } from './call-status.js';
import { toStoredReference } from './in-flight/work-reference.js';

/**
 * Who may end a call, beside the guard by state. Whoever finds zero rows changed has lost to somebody
 * else and must act as if it had never tried.
 */
const END_GUARDS = {
  // The owner, as long as nobody fenced it, and only while nobody asked for a cancel.
  owner: `background_calls.cancel_requested_at IS NULL AND background_calls.owner_id = $11
    AND EXISTS (SELECT FROM instances WHERE instances.id = background_calls.owner_id)`,
  // Anybody, once a cancel was asked for: a requested cancel beats every other ending.
  cancel: `background_calls.cancel_requested_at IS NOT NULL AND $11::uuid IS NULL`,
  // Anybody, once the deadline has passed on the database's clock.
  deadline: `background_calls.cancel_requested_at IS NULL AND background_calls.deadline_at <= now()
    AND $11::uuid IS NULL`,
  // Anybody, when the owner was fenced or has left.
  'dead-owner': `background_calls.cancel_requested_at IS NULL AND $11::uuid IS NULL
    AND NOT EXISTS (SELECT FROM instances WHERE instances.id = background_calls.owner_id)`,
} as const;

/** By which right a call is ended. */
export type EndGuard = keyof typeof END_GUARDS;
/** By which right a call is taken from an owner who does not go on with it. */
export type InterruptGuard = Extract<EndGuard, 'owner' | 'dead-owner'>;

// Whether the upstream was asked is read here, under the row's lock: whoever judges may have looked
// just before the mark was written, and after the end it is not written any more.
const endStatement = (guard: EndGuard): string => `
  UPDATE background_calls
  SET status = $3, ended_at = now(), error_code = $4, error_message = $5,
    outcome_unknown = $6 AND background_calls.dispatched_at IS NOT NULL,
    result_preview = $7, result_is_error = $8, result_bytes = $9, result_truncated = $10,
    result_files = $12::jsonb, upstream_reference = NULL
  FROM targets
  WHERE background_calls.id = $1 AND background_calls.status = ANY($2) AND ${END_GUARDS[guard]}
    AND targets.id = background_calls.target_id
  RETURNING ${CALL_COLUMNS}`;

// Without the mark of a dispatch the upstream surely was not asked, so starting it again is no second time.
const REQUEUE_GUARDS: Record<InterruptGuard, string> = {
  owner: `background_calls.owner_id = $2
    AND EXISTS (SELECT FROM instances WHERE instances.id = background_calls.owner_id)`,
  'dead-owner': `$2::uuid IS NULL
    AND NOT EXISTS (SELECT FROM instances WHERE instances.id = background_calls.owner_id)`,
};
const requeueStatement = (guard: InterruptGuard): string => `
  UPDATE background_calls
  SET status = 'queued', owner_id = NULL, started_at = NULL, deadline_at = NULL
  FROM targets
  WHERE background_calls.id = $1 AND background_calls.status = 'running'
    AND background_calls.dispatched_at IS NULL AND background_calls.cancel_requested_at IS NULL
    AND ${REQUEUE_GUARDS[guard]} AND targets.id = background_calls.target_id
  RETURNING ${CALL_COLUMNS}`;

// A lost lease inserts nothing: a call that nobody owns would be swept as interrupted. What is queued
// has no owner and has not started.
const INSERT = `
  WITH inserted AS (
    INSERT INTO background_calls (id, app_id, target_id, status, handover, owner_id, agent_id,
      turn_id, tool_call_id, server_id, server_name, server_title, tool, arguments, policy, progress,
      traceparent, started_at, dispatched_at, deadline_at, upstream_reference, driver)
    SELECT $1::uuid, $2::uuid, $3::bigint, $19, $4, CASE WHEN $19 = 'running' THEN $5::uuid END, $6,
      $7, $8, $9::uuid, $10, $11, $12, $13, $14::jsonb, $15, $16,
      CASE WHEN $19 = 'running' THEN now() - coalesce($17::float8, 0) * interval '1 ms' END,
      CASE WHEN $17::float8 IS NOT NULL THEN now() END,
      CASE WHEN $19 = 'running' THEN now() + $18::float8 * interval '1 hour' END,
      $20::text, coalesce($21::text, 'plain')
    WHERE EXISTS (SELECT FROM instances WHERE instances.id = $5)
    RETURNING background_calls.*)
  SELECT ${CALL_COLUMNS}
  FROM inserted AS background_calls
  JOIN targets ON targets.id = background_calls.target_id`;

const FIND = `
  SELECT ${CALL_COLUMNS}
  FROM background_calls
  JOIN targets ON targets.id = background_calls.target_id
  WHERE background_calls.id = $1 AND ($2::uuid IS NULL OR background_calls.app_id = $2)`;

const INSERT_RESULT = `
  INSERT INTO call_results (call_id, body) VALUES ($1, $2)`;

const FIND_RESULT = `
  SELECT call_results.body FROM call_results
  WHERE call_results.call_id = $1`;

// Written before the upstream is asked. Zero rows: do not ask it any more.
const MARK_DISPATCHED = `
  UPDATE background_calls
  SET dispatched_at = now()
  WHERE background_calls.id = $1 AND background_calls.owner_id = $2
    AND background_calls.status = 'running' AND background_calls.cancel_requested_at IS NULL
    AND EXISTS (SELECT FROM instances WHERE instances.id = background_calls.owner_id)
  RETURNING background_calls.id`;

const REQUEST_CANCEL = `
  UPDATE background_calls
  SET cancel_requested_at = coalesce(background_calls.cancel_requested_at, now())
  FROM targets
  WHERE background_calls.id = $1 AND background_calls.status = ANY($2)
    AND targets.id = background_calls.target_id
  RETURNING ${CALL_COLUMNS}`;

/** The moves of a call; lists are in `call-list.repository.ts`. */
@Injectable()
export class BackgroundCallRepository {
  /** Undefined: this process is fenced and may own nothing. */
  async insert(
    tx: Transaction,
    request: HandoverRequest,
    targetId: number,
    ownerId: string,
  ): Promise<BackgroundCall | undefined> {
    const { server } = request;
    const reference = request.reference && toStoredReference(request.reference);
    return first(
      await tx.query<BackgroundCallRow>(INSERT, [
        ...[request.id, request.appId, targetId, request.handover, ownerId],
        ...[request.agentId, request.turnId, request.toolCallId],
        ...[server.id, server.name, server.title, request.tool, request.arguments, request.policy],
        request.progress && JSON.stringify(request.progress),
        ...[request.traceparent, request.runningForMs, request.policy.maxHours],
        request.handover === 'queued' ? 'queued' : 'running',
        ...[reference?.text, reference?.driver],
      ]),
    );
  }

  /** Undefined when there is no such call, or none of this app; without an app those of all count. */
  async find(db: Queryable, id: string, appId?: string): Promise<BackgroundCall | undefined> {
    return first(await db.query<BackgroundCallRow>(FIND, [id, appId]));
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
      result?.files && JSON.stringify(result.files),
    ]);
    if (rows.length > 0 && result) await tx.query(INSERT_RESULT, [id, result.body]);
    return first(rows);
  }

  /** Undefined: the upstream was asked, the call was cancelled or has ended, or the guard does not hold. */
  async requeue(
    tx: Transaction,
    id: string,
    guard: InterruptGuard,
    ownerId: string | null,
  ): Promise<BackgroundCall | undefined> {
    return first(await tx.query<BackgroundCallRow>(requeueStatement(guard), [id, ownerId]));
  }

  /** False: the call was cancelled, ended or taken over, so the upstream must not be asked. */
  async markDispatched(db: Queryable, id: string, ownerId: string): Promise<boolean> {
    return (await db.query(MARK_DISPATCHED, [id, ownerId])).length === 1;
  }

  /** Undefined when the call has ended; the first request's time stays. */
  async requestCancel(tx: Transaction, id: string): Promise<BackgroundCall | undefined> {
    return first(await tx.query<BackgroundCallRow>(REQUEST_CANCEL, [id, sourcesOf('cancelled')]));
  }

  /** The whole result as the bytes of its JSON. */
  async findResult(db: Queryable, id: string): Promise<Buffer | undefined> {
    return (await db.query<{ body: Buffer }>(FIND_RESULT, [id]))[0]?.body;
  }
}

function first(rows: BackgroundCallRow[]): BackgroundCall | undefined {
  return rows[0] && toBackgroundCall(rows[0]);
}
