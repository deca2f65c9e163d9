import { Injectable } from '@nestjs/common';
import type { Queryable } from '../database/database.js';

const REGISTER = `
  INSERT INTO instances (id, host, pid, lease_until)
  VALUES ($1, $2, $3, now() + make_interval(secs => $4))`;

// Zero rows: another replica found the lease run out and fenced this process by deleting its row.
const RENEW = `
  UPDATE instances
  SET lease_until = now() + make_interval(secs => $2)
  WHERE instances.id = $1
  RETURNING instances.id`;

// Not by one whose own lease has run out: the statement may have hung in a database that was away.
const FENCE_EXPIRED = `
  DELETE FROM instances
  WHERE instances.lease_until < now() AND instances.id <> $1
    AND EXISTS (SELECT FROM instances AS own WHERE own.id = $1 AND own.lease_until > now())`;

const FENCE_ALL_OTHERS = `
  DELETE FROM instances
  WHERE instances.id <> $1`;

const OLDEST = `
  SELECT instances.id FROM instances
  WHERE instances.lease_until > now()
  ORDER BY instances.started_at, instances.id LIMIT 1`;

const RELEASE = `
  DELETE FROM instances
  WHERE instances.id = $1`;

/** One row per process with a lease on database time; calls point to their owner. */
@Injectable()
export class InstanceRepository {
  /** Begins the lease of this process. */
  async register(
    db: Queryable,
    id: string,
    host: string,
    pid: number,
    leaseSec: number,
  ): Promise<void> {
    await db.query(REGISTER, [id, host, pid, leaseSec]);
  }

  /** False: this process was fenced. */
  async renew(db: Queryable, id: string, leaseSec: number): Promise<boolean> {
    const rows = await db.query(RENEW, [id, leaseSec]);
    return rows.length === 1;
  }

  /** Takes from every process whose lease ran out the right to write about its calls. */
  async fenceExpired(db: Queryable, ownId: string): Promise<void> {
    await db.query(FENCE_EXPIRED, [ownId]);
  }

  /** For a database that only one process can use at a time: whoever else is listed is dead. */
  async fenceAllOthers(db: Queryable, ownId: string): Promise<void> {
    await db.query(FENCE_ALL_OTHERS, [ownId]);
  }

  /** Whether this process lives longer than every other one: for what one replica should do for all. */
  async isOldest(db: Queryable, id: string): Promise<boolean> {
    const [oldest] = await db.query<{ id: string }>(OLDEST);
    return oldest?.id === id;
  }

  /** Ends the lease: what the process still owns can be taken over. */
  async release(db: Queryable, id: string): Promise<void> {
    await db.query(RELEASE, [id]);
  }
}
