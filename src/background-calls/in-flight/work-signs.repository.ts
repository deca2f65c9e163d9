import { Injectable } from '@nestjs/common';
import type { Queryable } from '../../database/database.js';
import type { BackgroundCall } from '../background-call.js';
import type { StoredReference } from './work-reference.js';

/** A reference that was told, for the call as its owner has it. */
export interface ToldReference extends StoredReference {
  call: BackgroundCall;
}

// Both statements move many rows, so they lock them in one order: they would wait for each other otherwise.
const IN_ORDER = `
    ORDER BY background_calls.id
    FOR UPDATE OF background_calls`;

const WRITE_PROGRESS = `
  WITH held AS (
    SELECT background_calls.id, arrived.progress
    FROM unnest($1::uuid[], $2::text[]) AS arrived (id, progress)
    JOIN background_calls ON background_calls.id = arrived.id
    WHERE background_calls.owner_id = $3 AND background_calls.ended_at IS NULL ${IN_ORDER})
  UPDATE background_calls
  SET progress = held.progress
  FROM held
  WHERE background_calls.id = held.id`;

const WRITE_REFERENCES = `
  WITH held AS (
    SELECT background_calls.id, arrived.reference, arrived.driver
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[])
      AS arrived (id, owner_id, reference, driver)
    JOIN background_calls ON background_calls.id = arrived.id
    WHERE background_calls.owner_id = arrived.owner_id AND background_calls.ended_at IS NULL
      AND background_calls.dispatched_at IS NOT NULL ${IN_ORDER})
  UPDATE background_calls
  SET upstream_reference = held.reference, driver = held.driver
  FROM held
  WHERE background_calls.id = held.id`;

/** What the work of running calls tells, of many calls in one statement; nothing is written for others. */
@Injectable()
export class WorkSignsRepository {
  /** The last progress of calls of this owner, by their ids. */
  async writeProgress(
    db: Queryable,
    progress: ReadonlyMap<string, object>,
    ownerId: string,
  ): Promise<void> {
    const bodies = [...progress.values()].map((each) => JSON.stringify(each));
    await db.query(WRITE_PROGRESS, [[...progress.keys()], bodies, ownerId]);
  }

  /** The last reference of each of these calls. */
  async writeReferences(db: Queryable, told: readonly ToldReference[]): Promise<void> {
    await db.query(WRITE_REFERENCES, [
      told.map(({ call }) => call.id),
      told.map(({ call }) => call.ownerId),
      told.map(({ text }) => text),
      told.map(({ driver }) => driver),
    ]);
  }
}
