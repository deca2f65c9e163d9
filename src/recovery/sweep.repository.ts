import { Injectable } from '@nestjs/common';
import type { Queryable } from '../database/database.js';
import { TARGET_COLUMNS, type TargetRow, toTarget } from '../targets/target.repository.js';
import type { TargetAddress } from '../targets/target-address.js';

/** A call that a sweep may have to end; the guard of the move itself decides. */
export interface SweptCall {
  id: string;
  targetId: number;
  appId: string;
  address: TargetAddress;
  ownerId: string | null;
  /** It has no instance row: it was fenced, or has left. */
  isOwnerGone: boolean;
  /** Whether its upstream may have been asked. */
  isDispatched: boolean;
  isCancelRequested: boolean;
  maxHours: number;
  /** Milliseconds since the start. */
  spentMs: number;
  /** JSON: by which another process could go on with the work. */
  reference: string | null;
}

type SweptRow = Omit<SweptCall, 'id' | 'appId' | 'address' | 'targetId'> &
  TargetRow & { callId: string };

const OWNER_IS_GONE = `NOT EXISTS (
    SELECT FROM instances WHERE instances.id = background_calls.owner_id)`;

const SELECT = `
  SELECT ${TARGET_COLUMNS}, background_calls.id AS "callId",
    background_calls.owner_id AS "ownerId", ${OWNER_IS_GONE} AS "isOwnerGone",
    background_calls.dispatched_at IS NOT NULL AS "isDispatched",
    background_calls.cancel_requested_at IS NOT NULL AS "isCancelRequested",
    background_calls.upstream_reference AS reference,
    (background_calls.policy->>'maxHours')::float8 AS "maxHours",
    (extract(epoch FROM now() - background_calls.started_at) * 1000)::float8 AS "spentMs"
  FROM background_calls
  JOIN targets ON targets.id = background_calls.target_id`;

/** Calls that one look finds at most: what is left over comes with the next one. */
export const SWEEP_BATCH = 200;

// Ordered by columns of running calls alone: by the primary key all ended ones might be read as well.
const IS_WANTED = `background_calls.id <> ALL($1::uuid[])`;

const OF_DEAD_OWNERS = `${SELECT}
  WHERE background_calls.ended_at IS NULL AND background_calls.owner_id IS NOT NULL
    AND ${OWNER_IS_GONE} AND ${IS_WANTED}
  ORDER BY background_calls.started_at LIMIT ${SWEEP_BATCH}`;

const PAST_DEADLINE = `${SELECT}
  WHERE background_calls.ended_at IS NULL AND background_calls.deadline_at <= now()
    AND ${IS_WANTED}
  ORDER BY background_calls.deadline_at LIMIT ${SWEEP_BATCH}`;

// The owner has a grace of 5 s to carry a cancel out.
const OVERDUE_CANCELS = `${SELECT}
  WHERE background_calls.ended_at IS NULL
    AND background_calls.cancel_requested_at < now() - interval '5 seconds'
    AND ${IS_WANTED}
  ORDER BY background_calls.cancel_requested_at LIMIT ${SWEEP_BATCH}`;

const OF_OWNER = `${SELECT}
  WHERE background_calls.ended_at IS NULL AND background_calls.owner_id = $1`;

const OPEN_AMONG = `
  SELECT background_calls.id FROM background_calls
  WHERE background_calls.id = ANY($1::uuid[]) AND background_calls.ended_at IS NULL`;

/** Finds the calls that need somebody to end them: the oldest first, without those of `passedOver`. */
@Injectable()
export class SweepRepository {
  /** Calls whose owner was fenced or has left. */
  async ofDeadOwners(db: Queryable, passedOver: string[]): Promise<SweptCall[]> {
    return select(db, OF_DEAD_OWNERS, [passedOver]);
  }

  /** Calls that have run longer than their limit, on the database's clock. */
  async pastDeadline(db: Queryable, passedOver: string[]): Promise<SweptCall[]> {
    return select(db, PAST_DEADLINE, [passedOver]);
  }

  /** Calls whose cancel was asked for more than 5 s ago. */
  async overdueCancels(db: Queryable, passedOver: string[]): Promise<SweptCall[]> {
    return select(db, OVERDUE_CANCELS, [passedOver]);
  }

  /** All calls of one process, without a bound. */
  async ofOwner(db: Queryable, ownerId: string): Promise<SweptCall[]> {
    return select(db, OF_OWNER, [ownerId]);
  }

  /** Which of these calls have not ended. */
  async openAmong(db: Queryable, ids: string[]): Promise<string[]> {
    return (await db.query<{ id: string }>(OPEN_AMONG, [ids])).map(({ id }) => id);
  }
}

async function select(db: Queryable, sql: string, values: unknown[]): Promise<SweptCall[]> {
  const rows = await db.query<SweptRow>(sql, values);
  return rows.map((row) => {
    const { id: targetId, appId, address } = toTarget(row);
    const { callId: id, ownerId, isOwnerGone, isDispatched, isCancelRequested } = row;
    const { maxHours, spentMs, reference } = row;
    const work = { isDispatched, isCancelRequested, maxHours, spentMs, reference };
    return { id, targetId, appId, address, ownerId, isOwnerGone, ...work };
  });
}
