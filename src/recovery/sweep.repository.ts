import { Injectable } from '@nestjs/common';
import type { Queryable } from '../database/database.js';

/** A call that a sweep may have to end; the guard of the move itself decides. */
export interface SweptCall {
  id: string;
  targetId: number;
  ownerId: string | null;
  isCancelRequested: boolean;
  maxHours: number;
  /** Milliseconds since the start. */
  spentMs: number;
  /** JSON: by which another process could go on with the work. */
  reference: string | null;
}

const COLUMNS = `background_calls.id, background_calls.target_id AS "targetId",
    background_calls.owner_id AS "ownerId",
    background_calls.cancel_requested_at IS NOT NULL AS "isCancelRequested",
    background_calls.upstream_reference AS reference,
    (background_calls.policy->>'maxHours')::float8 AS "maxHours",
    (extract(epoch FROM now() - background_calls.started_at) * 1000)::float8 AS "spentMs"`;

// A bounded batch: what is left over comes with the next sweep.
const BATCH = 200;

const OF_DEAD_OWNERS = `
  SELECT ${COLUMNS} FROM background_calls
  WHERE background_calls.ended_at IS NULL AND background_calls.owner_id IS NOT NULL
    AND NOT EXISTS (SELECT FROM instances WHERE instances.id = background_calls.owner_id)
  LIMIT ${BATCH}`;

const PAST_DEADLINE = `
  SELECT ${COLUMNS} FROM background_calls
  WHERE background_calls.ended_at IS NULL AND background_calls.deadline_at <= now()
  LIMIT ${BATCH}`;

// The owner has a grace of 5 s to carry a cancel out.
const OVERDUE_CANCELS = `
  SELECT ${COLUMNS} FROM background_calls
  WHERE background_calls.ended_at IS NULL
    AND background_calls.cancel_requested_at < now() - interval '5 seconds'
  LIMIT ${BATCH}`;

const OF_OWNER = `
  SELECT ${COLUMNS} FROM background_calls
  WHERE background_calls.ended_at IS NULL AND background_calls.owner_id = $1`;

/** Finds the calls that need somebody to end them. */
@Injectable()
export class SweepRepository {
  /** Calls whose owner was fenced or has left. */
  async ofDeadOwners(db: Queryable): Promise<SweptCall[]> {
    return db.query<SweptCall>(OF_DEAD_OWNERS);
  }

  /** Calls that have run longer than their limit, on the database's clock. */
  async pastDeadline(db: Queryable): Promise<SweptCall[]> {
    return db.query<SweptCall>(PAST_DEADLINE);
  }

  /** Calls whose cancel was asked for more than 5 s ago. */
  async overdueCancels(db: Queryable): Promise<SweptCall[]> {
    return db.query<SweptCall>(OVERDUE_CANCELS);
  }

  /** All calls of one process, without a bound. */
  async ofOwner(db: Queryable, ownerId: string): Promise<SweptCall[]> {
    return db.query<SweptCall>(OF_OWNER, [ownerId]);
  }
}
