import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';

/** A call that a sweep may have to end; the guard of the move itself decides. */
export interface SweptCall {
  id: string;
  targetId: number;
  ownerId: string | null;
  wasDispatched: boolean;
  isCancelRequested: boolean;
  maxHours: number;
  spentMs: number;
}

const COLUMNS = `
  c.id, c.target_id AS "targetId", c.owner_id AS "ownerId",
  c.dispatched_at IS NOT NULL AS "wasDispatched",
  c.cancel_requested_at IS NOT NULL AS "isCancelRequested", (c.policy->>'maxHours')::float8 AS "maxHours",
  (extract(epoch FROM now() - c.started_at) * 1000)::float8 AS "spentMs"`;

// A bounded batch: what is left over comes with the next sweep.
const BATCH = 200;

const OF_DEAD_OWNERS = `
SELECT ${COLUMNS} FROM background_calls AS c
WHERE c.ended_at IS NULL AND c.owner_id IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM instances AS i WHERE i.id = c.owner_id)
LIMIT ${BATCH}`;

const PAST_DEADLINE = `
SELECT ${COLUMNS} FROM background_calls AS c
WHERE c.ended_at IS NULL AND c.deadline_at <= now()
LIMIT ${BATCH}`;

// The owner has a grace of 5 s to carry a cancel out.
const OVERDUE_CANCELS = `
SELECT ${COLUMNS} FROM background_calls AS c
WHERE c.ended_at IS NULL AND c.cancel_requested_at < now() - interval '5 seconds'
LIMIT ${BATCH}`;

const OF_OWNER = `
SELECT ${COLUMNS} FROM background_calls AS c
WHERE c.ended_at IS NULL AND c.owner_id = $1`;

/** Finds the calls that need somebody to end them. */
@Injectable()
export class SweepRepository {
  constructor(private readonly database: Database) {}

  async ofDeadOwners(): Promise<SweptCall[]> {
    return this.database.query<SweptCall>(OF_DEAD_OWNERS);
  }

  async pastDeadline(): Promise<SweptCall[]> {
    return this.database.query<SweptCall>(PAST_DEADLINE);
  }

  async overdueCancels(): Promise<SweptCall[]> {
    return this.database.query<SweptCall>(OVERDUE_CANCELS);
  }

  async ofOwner(ownerId: string): Promise<SweptCall[]> {
    return this.database.query<SweptCall>(OF_OWNER, [ownerId]);
  }
}
