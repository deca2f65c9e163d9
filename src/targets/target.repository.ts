import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../database/database.js';
import type { TargetAddress } from './target-address.js';

/** A session or bot that has a row. */
export interface Target {
  id: number;
  appId: string;
  address: TargetAddress;
}

/** A target whose row lock this transaction holds: nobody else moves its turn, order or delivery. */
export interface LockedTarget extends Target {
  /** The running turn; null when none runs. */
  turnId: string | null;
  /** A turn that ran out of time and is not recorded as ended yet. */
  expiredTurnId: string | null;
}

/** What `TARGET_COLUMNS` selects. */
export interface TargetRow {
  id: number;
  appId: string;
  sessionId: string | null;
  teamId: string | null;
  botId: string | null;
  turnId: string | null;
  turnIsAlive: boolean | null;
}

export const TARGET_COLUMNS = `targets.id, targets.app_id AS "appId",
    targets.session_id AS "sessionId", targets.team_id AS "teamId", targets.bot_id AS "botId",
    targets.turn_id AS "turnId", targets.turn_expires_at > now() AS "turnIsAlive"`;
const SELECT = `SELECT ${TARGET_COLUMNS} FROM targets`;
const OF_SESSION = 'WHERE targets.app_id = $1 AND targets.session_id = $2';
const OF_BOT = 'WHERE targets.app_id = $1 AND targets.team_id = $2 AND targets.bot_id = $3';
// The lock is a statement of its own: what is computed afterwards sees all that was committed before it.
const LOCK = 'FOR UPDATE OF targets';

const INSERT_SESSION = `
  INSERT INTO targets (app_id, kind, session_id) VALUES ($1, 'session', $2)
  ON CONFLICT ON CONSTRAINT targets_session_unique DO NOTHING`;
const INSERT_BOT = `
  INSERT INTO targets (app_id, kind, team_id, bot_id) VALUES ($1, 'bot', $2, $3)
  ON CONFLICT ON CONSTRAINT targets_bot_unique DO NOTHING`;

/** The row of a session or bot; a target needs no registration, its row is made when it is first locked. */
@Injectable()
export class TargetRepository {
  /** Locks the target's row until the transaction ends, making it when there is none. */
  async lock(tx: Transaction, appId: string, address: TargetAddress): Promise<LockedTarget> {
    for (;;) {
      const [row] = await this.select(tx, appId, address, LOCK);
      if (row !== undefined) return toLockedTarget(row);
      const insert = address.type === 'session' ? INSERT_SESSION : INSERT_BOT;
      await tx.query(insert, [appId, ...namesOf(address)]);
    }
  }

  /** Locks a target that is known to exist: rows of targets are not deleted while something refers to them. */
  async lockById(tx: Transaction, id: number): Promise<LockedTarget> {
    const [row] = await tx.query<TargetRow>(`${SELECT} WHERE targets.id = $1 ${LOCK}`, [id]);
    if (row === undefined) throw new Error(`There is no target ${id}.`);
    return toLockedTarget(row);
  }

  /** Undefined when nothing was ever recorded for the target. */
  async find(db: Queryable, appId: string, address: TargetAddress): Promise<Target | undefined> {
    const [row] = await this.select(db, appId, address, '');
    return row && toTarget(row);
  }

  private select(
    db: Queryable,
    appId: string,
    address: TargetAddress,
    lock: string,
  ): Promise<TargetRow[]> {
    const where = address.type === 'session' ? OF_SESSION : OF_BOT;
    return db.query<TargetRow>(`${SELECT} ${where} ${lock}`, [appId, ...namesOf(address)]);
  }
}

function namesOf(address: TargetAddress): string[] {
  return address.type === 'session' ? [address.sessionId] : [address.teamId, address.botId];
}

/** Reads a row that was selected without a lock. */
export function toTarget(row: TargetRow): Target {
  const address: TargetAddress =
    row.sessionId === null
      ? { type: 'bot', teamId: row.teamId as string, botId: row.botId as string }
      : { type: 'session', sessionId: row.sessionId };
  return { id: row.id, appId: row.appId, address };
}

/** Reads a row that was selected with a lock. */
export function toLockedTarget(row: TargetRow): LockedTarget {
  return {
    ...toTarget(row),
    turnId: row.turnIsAlive ? row.turnId : null,
    expiredTurnId: row.turnIsAlive ? null : row.turnId,
  };
}
