import { Injectable } from '@nestjs/common';
import type { Queryable } from '../database/database.js';

/** What waits to be delivered, in the whole service. */
export interface Backlog {
  /** Messages that are out and were not acknowledged. */
  pendingMessages: number;
  undeliveredTargets: number;
  /** Since when the longest waiting of these targets has something, in seconds; 0: none waits. */
  oldestSec: number;
}

// Both parts read a partial index, and no more of it than the bound: a backlog must not be made worse
// by looking at it.
const COUNT = `
  SELECT pending.count AS "pendingMessages", undelivered.count AS "undeliveredTargets",
    undelivered.oldest AS "oldestSec"
  FROM (
    SELECT count(*) AS count
    FROM (SELECT messages.target_id FROM messages WHERE messages.state = 'pending' LIMIT $1) AS few
  ) AS pending
  CROSS JOIN (
    SELECT count(*) AS count,
      coalesce(extract(epoch FROM now() - min(few.undelivered_since)), 0)::float8 AS oldest
    FROM (SELECT targets.undelivered_since FROM targets
      WHERE targets.undelivered_since IS NOT NULL LIMIT $1) AS few
  ) AS undelivered`;

const MOST = 10_000;

/** How much waits to be delivered. */
@Injectable()
export class BacklogRepository {
  /** Counts to 10000 at most. */
  async count(db: Queryable): Promise<Backlog> {
    const [backlog] = await db.query<Backlog>(COUNT, [MOST]);
    return backlog ?? { pendingMessages: 0, undeliveredTargets: 0, oldestSec: 0 };
  }
}
