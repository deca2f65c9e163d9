import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../database/database.js';
import type { TargetAddress } from './target-address.js';

/** A turn as the engine names it. */
export interface TurnKey {
  appId: string;
  address: TargetAddress;
  turnId: string;
}

/** A turn of a target that has a row. */
export interface TurnOfTarget {
  targetId: number;
  turnId: string;
}

/** How many ended turns of a target are remembered. */
export const ENDED_TURNS_KEPT = 200;

const OPEN = `
  UPDATE targets
  SET turn_id = $2, turn_expires_at = now() + make_interval(secs => $3)
  WHERE targets.id = $1`;

// Strict: a turn that has run out of time is not revived.
const TOUCH = `
  UPDATE targets
  SET turn_expires_at = now() + make_interval(secs => $3)
  WHERE targets.id = $1 AND targets.turn_id = $2 AND targets.turn_expires_at > now()
  RETURNING targets.id`;

const CLOSE = `
  UPDATE targets
  SET turn_id = NULL, turn_expires_at = NULL
  WHERE targets.id = $1 AND targets.turn_id = $2`;

// Answers a row when something is new: the end, or that it was an interruption.
const RECORD_ENDED = `
  INSERT INTO ended_turns (target_id, turn_id, interrupted) VALUES ($1, $2, $3)
  ON CONFLICT ON CONSTRAINT ended_turns_pk DO UPDATE SET interrupted = true
    WHERE excluded.interrupted AND NOT ended_turns.interrupted
  RETURNING ended_turns.turn_id`;

const PRUNE_ENDED = `
  DELETE FROM ended_turns
  WHERE ended_turns.target_id = $1 AND ended_turns.turn_id IN (
    SELECT recent.turn_id FROM ended_turns AS recent WHERE recent.target_id = $1
    ORDER BY recent.ended_at DESC, recent.turn_id DESC OFFSET $2)`;

const FIND_ENDED = `
  SELECT ended_turns.interrupted FROM ended_turns
  WHERE ended_turns.target_id = $1 AND ended_turns.turn_id = $2`;

// Passes over rows that are locked at the moment, so that one stuck target cannot stop all others and
// two replicas that renew the same turns do not wait for each other.
const RENEW = `
  WITH alive AS (
    SELECT targets.id FROM targets
    JOIN unnest($1::bigint[], $2::text[]) AS held (target_id, turn_id)
      ON targets.id = held.target_id AND targets.turn_id = held.turn_id
    WHERE targets.turn_expires_at > now()
    FOR UPDATE OF targets SKIP LOCKED)
  UPDATE targets
  SET turn_expires_at = now() + make_interval(secs => $3)
  FROM alive
  WHERE targets.id = alive.id
  RETURNING targets.id AS "targetId", targets.turn_id AS "turnId"`;

const FIND_INTERRUPTED = `
  SELECT asked.place::int AS place
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[]) WITH ORDINALITY
    AS asked (app_id, session_id, team_id, bot_id, turn_id, place)
  JOIN targets ON targets.app_id = asked.app_id AND (targets.session_id = asked.session_id
    OR targets.team_id = asked.team_id AND targets.bot_id = asked.bot_id)
  JOIN ended_turns ON ended_turns.target_id = targets.id AND ended_turns.turn_id = asked.turn_id
  WHERE ended_turns.interrupted`;

/** The statements on turns; those that write expect the target's row lock to be held, save `touch` and `renew`. */
@Injectable()
export class TurnRepository {
  async open(tx: Transaction, turn: TurnOfTarget, idleSec: number): Promise<void> {
    await tx.query(OPEN, [turn.targetId, turn.turnId, idleSec]);
  }

  /** Whether the turn runs and now has `idleSec` more; takes the row lock itself. */
  async touch(db: Queryable, turn: TurnOfTarget, idleSec: number): Promise<boolean> {
    const rows = await db.query(TOUCH, [turn.targetId, turn.turnId, idleSec]);
    return rows.length > 0;
  }

  /** Makes the target idle when this is its turn; otherwise nothing happens. */
  async close(tx: Transaction, turn: TurnOfTarget): Promise<void> {
    await tx.query(CLOSE, [turn.targetId, turn.turnId]);
  }

  /** Whether this is news: an ended turn is recorded once, and may later turn out to be interrupted. */
  async recordEnded(tx: Transaction, turn: TurnOfTarget, interrupted: boolean): Promise<boolean> {
    const rows = await tx.query(RECORD_ENDED, [turn.targetId, turn.turnId, interrupted]);
    await tx.query(PRUNE_ENDED, [turn.targetId, ENDED_TURNS_KEPT]);
    return rows.length > 0;
  }

  /** Undefined when the turn is not known to have ended. */
  async findEnded(
    db: Queryable,
    turn: TurnOfTarget,
  ): Promise<{ interrupted: boolean } | undefined> {
    const [row] = await db.query<{ interrupted: boolean }>(FIND_ENDED, [
      turn.targetId,
      turn.turnId,
    ]);
    return row;
  }

  /** Gives the turns that still run `idleSec` more, with one statement; answers the renewed ones. */
  async renew(db: Queryable, turns: TurnOfTarget[], idleSec: number): Promise<TurnOfTarget[]> {
    return db.query<TurnOfTarget>(RENEW, [
      turns.map((turn) => turn.targetId),
      turns.map((turn) => turn.turnId),
      idleSec,
    ]);
  }

  /** Those of `keys` whose turn was ended with `interrupted`. */
  async findInterrupted(db: Queryable, keys: TurnKey[]): Promise<TurnKey[]> {
    if (keys.length === 0) return [];
    const rows = await db.query<{ place: number }>(FIND_INTERRUPTED, [
      keys.map(({ appId }) => appId),
      keys.map(({ address }) => (address.type === 'session' ? address.sessionId : null)),
      keys.map(({ address }) => (address.type === 'bot' ? address.teamId : null)),
      keys.map(({ address }) => (address.type === 'bot' ? address.botId : null)),
      keys.map(({ turnId }) => turnId),
    ]);
    const places = new Set(rows.map(({ place }) => place));
    return keys.filter((_, index) => places.has(index + 1));
  }
}
