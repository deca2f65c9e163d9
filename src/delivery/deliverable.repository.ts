import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../database/database.js';
import {
  type LockedTarget,
  TARGET_COLUMNS,
  type TargetRow,
  toLockedTarget,
} from '../targets/target.repository.js';
import type { DeliveryScope } from './pull/delivery-scope.js';

/** A locked target to which something can be handed out now. */
export interface DeliverableTarget extends LockedTarget {
  /** The database's time at the claim. */
  now: Date;
}

type DeliverableRow = TargetRow & { now: Date };

// now(), not clock_timestamp(): an index can be asked for it, and it cannot change within the statement.
const NO_TURN = `(targets.turn_expires_at IS NULL OR targets.turn_expires_at <= now())`;

const DELIVERABLE = `targets.undelivered_since IS NOT NULL
    AND ${NO_TURN}
    AND (targets.hidden_until IS NULL OR targets.hidden_until <= now())`;

// The expression of an index: what is hidden until later lies behind what is due, and is not read.
const DUE_AT = 'greatest(targets.undelivered_since, targets.hidden_until)';
const DUE = `targets.undelivered_since IS NOT NULL AND ${DUE_AT} <= now() AND ${NO_TURN}`;

// A session asks for itself: it waits for whoever holds its row, such as a call that is just ending,
// and the conditions are then checked again on what that left behind.
const LOCK_SESSION = `
  SELECT ${TARGET_COLUMNS}, now() AS now
  FROM targets
  WHERE targets.app_id = $1 AND targets.session_id = $2 AND ${DELIVERABLE}
  FOR UPDATE OF targets`;

const LOCK_SESSIONS = `
  SELECT ${TARGET_COLUMNS}, now() AS now
  FROM targets
  WHERE targets.app_id = $1 AND targets.kind = 'session' AND ${DELIVERABLE}
  ORDER BY targets.undelivered_since, targets.id
  LIMIT $2
  FOR UPDATE OF targets SKIP LOCKED`;

const LOCK_DUE = `
  SELECT ${TARGET_COLUMNS}, now() AS now
  FROM targets
  WHERE targets.app_id = $1 AND ${DUE}
  ORDER BY ${DUE_AT}, targets.id
  LIMIT $2
  FOR UPDATE OF targets SKIP LOCKED`;

const FIND_DUE_APPS = `
  SELECT asked.app_id AS "appId"
  FROM unnest($1::uuid[]) AS asked (app_id)
  WHERE EXISTS (SELECT FROM targets WHERE targets.app_id = asked.app_id AND ${DUE})`;

const HIDE = `
  UPDATE targets
  SET hidden_until = now() + make_interval(secs => $2)
  WHERE targets.id = ANY($1::bigint[])`;

const SHOW_AGAIN = `
  UPDATE targets
  SET hidden_until = NULL
  WHERE targets.id = $1`;

const OLDEST_WAITING = `(
    SELECT notifications.created_at FROM notifications
    WHERE notifications.target_id = targets.id AND notifications.message_id IS NULL
      AND notifications.suppressed IS NULL
    ORDER BY notifications.sequence LIMIT 1)`;

// What is sent again comes before what is new, the oldest first.
const GO_ON = `
  WITH next AS (
    UPDATE messages
    SET held_back = false, trying_since = now()
    WHERE messages.id = (
      SELECT held.id FROM messages AS held
      WHERE held.target_id = $1 AND held.held_back
      ORDER BY held.created_at, held.id LIMIT 1)
    RETURNING messages.redelivered_at)
  UPDATE targets
  SET hidden_until = NULL,
    undelivered_since = least((SELECT next.redelivered_at FROM next), ${OLDEST_WAITING})
  WHERE targets.id = $1
  RETURNING targets.undelivered_since IS NOT NULL AS "hasMore"`;

// A message that is out comes again, whatever waits behind it.
const SETTLE = `
  UPDATE targets
  SET undelivered_since = ${OLDEST_WAITING}
  WHERE targets.id = $1
    AND NOT EXISTS (
      SELECT FROM messages
      WHERE messages.target_id = targets.id AND messages.state = 'pending' AND NOT messages.held_back)`;

const FIND_DUE = `
  SELECT polled.app_id AS "appId", polled.session_id AS "sessionId"
  FROM unnest($1::uuid[], $2::text[]) AS polled (app_id, session_id)
  JOIN targets ON targets.app_id = polled.app_id AND targets.session_id = polled.session_id
  WHERE ${DELIVERABLE}
  UNION ALL
  SELECT polled.app_id, NULL
  FROM unnest($3::uuid[]) AS polled (app_id)
  WHERE EXISTS (
    SELECT FROM targets
    WHERE targets.app_id = polled.app_id AND targets.kind = 'session' AND ${DELIVERABLE})`;

/** What the row of a target says about its delivery. Writing needs the target's lock. */
@Injectable()
export class DeliverableRepository {
  /**
   * Locks targets to which something can be handed out: idle, nothing of theirs out. Of all sessions of an
   * app at most `limit`, the longest waiting first, leaving out those that somebody else holds.
   */
  async lock(tx: Transaction, scope: DeliveryScope, limit: number): Promise<DeliverableTarget[]> {
    const rows =
      scope.sessionId === undefined
        ? await tx.query<DeliverableRow>(LOCK_SESSIONS, [scope.appId, limit])
        : await tx.query<DeliverableRow>(LOCK_SESSION, [scope.appId, scope.sessionId]);
    return rows.map(toDeliverableTarget);
  }

  /**
   * Locks targets of an app, sessions and bots, to which something can be handed out: at most `limit`, the
   * longest due first, leaving out those that somebody else holds.
   */
  async lockDue(tx: Transaction, appId: string, limit: number): Promise<DeliverableTarget[]> {
    const rows = await tx.query<DeliverableRow>(LOCK_DUE, [appId, limit]);
    return rows.map(toDeliverableTarget);
  }

  /** Those of the apps in which something can be handed out now. */
  async findDueApps(db: Queryable, appIds: string[]): Promise<string[]> {
    const rows = await db.query<{ appId: string }>(FIND_DUE_APPS, [appIds]);
    return rows.map(({ appId }) => appId);
  }

  /** Hides what was handed out to the targets for `visibilitySec`. */
  async hide(tx: Transaction, targetIds: number[], visibilitySec: number): Promise<void> {
    await tx.query(HIDE, [targetIds, visibilitySec]);
  }

  /** Makes what was handed out available at once. */
  async showAgain(tx: Transaction, targetId: number): Promise<void> {
    await tx.query(SHOW_AGAIN, [targetId]);
  }

  /** Nothing is out any more: whether there is more to hand out. */
  async goOn(tx: Transaction, targetId: number): Promise<boolean> {
    const [row] = await tx.query<{ hasMore: boolean }>(GO_ON, [targetId]);
    return row?.hasMore ?? false;
  }

  /** Less waits than before: there may be nothing to hand out any more. */
  async settle(tx: Transaction, targetId: number): Promise<void> {
    await tx.query(SETTLE, [targetId]);
  }

  /** Those of the scopes in which something can be handed out now, with one statement. */
  async findDue(db: Queryable, scopes: DeliveryScope[]): Promise<DeliveryScope[]> {
    const sessions = scopes.filter(({ sessionId }) => sessionId !== undefined);
    const apps = scopes.filter(({ sessionId }) => sessionId === undefined);
    const rows = await db.query<{ appId: string; sessionId: string | null }>(FIND_DUE, [
      sessions.map(({ appId }) => appId),
      sessions.map(({ sessionId }) => sessionId),
      apps.map(({ appId }) => appId),
    ]);
    return rows.map(({ appId, sessionId }) => ({ appId, sessionId: sessionId ?? undefined }));
  }
}

function toDeliverableTarget(row: DeliverableRow): DeliverableTarget {
  return { ...toLockedTarget(row), now: row.now };
}
