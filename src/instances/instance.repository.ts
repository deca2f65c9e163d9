import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';

const REGISTER = `
  INSERT INTO instances (id, host, pid, lease_until)
  VALUES ($1, $2, $3, now() + make_interval(secs => $4))`;

// Zero rows: another replica found the lease run out and fenced this process by deleting its row.
const RENEW = `
  UPDATE instances
  SET lease_until = now() + make_interval(secs => $2)
  WHERE instances.id = $1
  RETURNING instances.id`;

const FENCE_EXPIRED = `
  DELETE FROM instances
  WHERE instances.lease_until < now() AND instances.id <> $1`;

const FENCE_ALL_OTHERS = `
  DELETE FROM instances
  WHERE instances.id <> $1`;

const RELEASE = `
  DELETE FROM instances
  WHERE instances.id = $1`;

/** One row per process with a lease on database time; calls point to their owner. */
@Injectable()
export class InstanceRepository {
  constructor(private readonly database: Database) {}

  /** Begins the lease of this process. */
  async register(id: string, host: string, pid: number, leaseSec: number): Promise<void> {
    await this.database.query(REGISTER, [id, host, pid, leaseSec]);
  }

  /** False: this process was fenced. */
  async renew(id: string, leaseSec: number): Promise<boolean> {
    const rows = await this.database.query(RENEW, [id, leaseSec]);
    return rows.length === 1;
  }

  /** Takes from every process whose lease ran out the right to write about its calls. */
  async fenceExpired(ownId: string): Promise<void> {
    await this.database.query(FENCE_EXPIRED, [ownId]);
  }

  /** For a database that only one process can use at a time: whoever else is listed is dead. */
  async fenceAllOthers(ownId: string): Promise<void> {
    await this.database.query(FENCE_ALL_OTHERS, [ownId]);
  }

  /** Ends the lease: what the process still owns can be taken over. */
  async release(id: string): Promise<void> {
    await this.database.query(RELEASE, [id]);
  }
}
