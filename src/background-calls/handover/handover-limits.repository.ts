import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/database.js';

const COUNT_OF_TARGET = `
  SELECT count(*) AS running FROM background_calls
  WHERE background_calls.target_id = $1
    AND background_calls.ended_at IS NULL AND background_calls.status = 'running'`;

const COUNT_OF_AGENT = `
  SELECT count(*) AS running FROM background_calls
  WHERE background_calls.app_id = $1 AND background_calls.agent_id = $2
    AND background_calls.ended_at IS NULL AND background_calls.status = 'running'`;

const COUNT_OF_ALL = `
  SELECT count(*) AS running FROM background_calls
  WHERE background_calls.ended_at IS NULL AND background_calls.status = 'running'`;

// Held until the end of the transaction: counts under it are exact across replicas.
const LOCK = `
  SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`;

/** Counts running calls from their rows, never from a counter, so that a slot can't leak. */
@Injectable()
export class HandoverLimitsRepository {
  /** The caller holds the target's lock. */
  async runningOfTarget(tx: Transaction, targetId: number): Promise<number> {
    return running(await tx.query<Count>(COUNT_OF_TARGET, [targetId]));
  }

  /** Takes the lock of the agent. */
  async runningOfAgent(tx: Transaction, appId: string, agentId: string): Promise<number> {
    await tx.query(LOCK, [`background_calls agent ${appId} ${agentId}`]);
    return running(await tx.query<Count>(COUNT_OF_AGENT, [appId, agentId]));
  }

  /** Takes the lock of all calls. */
  async runningOfAll(tx: Transaction): Promise<number> {
    await tx.query(LOCK, ['background_calls all']);
    return running(await tx.query<Count>(COUNT_OF_ALL));
  }
}

interface Count {
  running: number;
}

function running(rows: Count[]): number {
  return rows[0]?.running ?? 0;
}
