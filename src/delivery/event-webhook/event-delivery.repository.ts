import { Injectable } from '@nestjs/common';
import type { Queryable } from '../../database/database.js';
import { TARGET_COLUMNS, type TargetRow, toTarget } from '../../targets/target.repository.js';
import type { SentEvent } from './event-webhook-body.js';

/** An event that was claimed to be sent. */
export interface DueEvent {
  event: SentEvent;
  traceparent: string | null;
  /** Counts the tries: whoever has been overtaken by another one writes nothing. */
  handOut: number;
  /** In a row, before this try. */
  failures: number;
  /** Milliseconds since it was written, its receiver last said that it is busy, or its URL was changed. */
  ageMs: number;
}

type DueRow = Omit<TargetRow, 'id'> & {
  sequence: number;
  type: string;
  data: Record<string, unknown>;
  createdAt: Date;
  callId: string | null;
  serverName: string | null;
  serverTitle: string | null;
  tool: string | null;
  agentId: string | null;
  callTurnId: string | null;
  traceparent: string | null;
  handOut: number;
  failures: number;
  ageMs: number;
};

const FIND_DUE_APPS = `
  SELECT asked.app_id AS "appId"
  FROM unnest($1::uuid[]) AS asked (app_id)
  WHERE EXISTS (
    SELECT FROM event_deliveries
    WHERE event_deliveries.app_id = asked.app_id AND event_deliveries.due_at <= now())`;

// What the change of the app's URL has not reached yet is judged here as it will be then.
const IS_FORGOTTEN = `(apps.events_url IS NULL
    OR coalesce(event_deliveries.trying_since < apps.events_begun_at, false))`;

const CLAIM = `
  WITH due AS (
    SELECT event_deliveries.event_id, ${IS_FORGOTTEN} AS forgotten,
      coalesce(event_deliveries.trying_since < apps.events_changed_at, false) AS anew,
      greatest(event_deliveries.trying_since, apps.events_changed_at) AS trying_since
    FROM event_deliveries
    JOIN apps ON apps.id = event_deliveries.app_id
    WHERE event_deliveries.app_id = $1 AND event_deliveries.due_at <= now()
    ORDER BY event_deliveries.due_at, event_deliveries.event_id
    LIMIT $2
    FOR UPDATE OF event_deliveries SKIP LOCKED
  ), forgotten AS (
    DELETE FROM event_deliveries
    USING due
    WHERE event_deliveries.event_id = due.event_id AND due.forgotten
  ), claimed AS (
    UPDATE event_deliveries
    SET hand_outs = event_deliveries.hand_outs + 1, due_at = now() + make_interval(secs => $3),
      failures = CASE WHEN due.anew THEN 0 ELSE event_deliveries.failures END,
      trying_since = due.trying_since
    FROM due
    WHERE event_deliveries.event_id = due.event_id AND NOT due.forgotten
    RETURNING event_deliveries.event_id, event_deliveries.hand_outs, event_deliveries.failures,
      event_deliveries.trying_since
  )
  SELECT ${TARGET_COLUMNS}, events.id AS sequence, events.type, events.data,
    events.created_at AS "createdAt", events.call_id AS "callId",
    background_calls.server_name AS "serverName", background_calls.server_title AS "serverTitle",
    background_calls.tool, background_calls.agent_id AS "agentId",
    background_calls.turn_id AS "callTurnId", background_calls.traceparent,
    claimed.hand_outs AS "handOut", claimed.failures,
    (extract(epoch FROM now() - claimed.trying_since) * 1000)::float8 AS "ageMs"
  FROM claimed
  JOIN events ON events.id = claimed.event_id
  JOIN targets ON targets.id = events.target_id
  LEFT JOIN background_calls ON background_calls.id = events.call_id
  ORDER BY events.id`;

const REMOVE = `
  DELETE FROM event_deliveries
  WHERE event_deliveries.event_id = $1 AND event_deliveries.hand_outs = $2
  RETURNING event_deliveries.event_id`;

const WAIT = `
  UPDATE event_deliveries
  SET due_at = now() + make_interval(secs => $3), failures = $4,
    trying_since = CASE WHEN $5 THEN now() ELSE event_deliveries.trying_since END
  WHERE event_deliveries.event_id = $1 AND event_deliveries.hand_outs = $2
  RETURNING event_deliveries.event_id`;

// What is being sent is due, too: it may arrive at both addresses. The times may come from two clocks.
const CATCH_UP = `
  WITH stale AS (
    SELECT event_deliveries.event_id, ${IS_FORGOTTEN} AS forgotten, apps.events_changed_at
    FROM apps
    JOIN event_deliveries ON event_deliveries.app_id = apps.id
      AND event_deliveries.trying_since
        < CASE WHEN apps.events_url IS NULL THEN 'infinity' ELSE apps.events_changed_at END
    LIMIT $1
    FOR UPDATE OF event_deliveries SKIP LOCKED
  ), forgotten AS (
    DELETE FROM event_deliveries
    USING stale
    WHERE event_deliveries.event_id = stale.event_id AND stale.forgotten
  ), anew AS (
    UPDATE event_deliveries
    SET due_at = now(), failures = 0, trying_since = greatest(now(), stale.events_changed_at)
    FROM stale
    WHERE event_deliveries.event_id = stale.event_id AND NOT stale.forgotten
  )
  SELECT count(*)::int AS rows FROM stale`;

/** Events on their way to the URLs of their apps. */
@Injectable()
export class EventDeliveryRepository {
  /** Those of the apps that have an event to be sent now. */
  async findDueApps(db: Queryable, appIds: string[]): Promise<string[]> {
    const rows = await db.query<{ appId: string }>(FIND_DUE_APPS, [appIds]);
    return rows.map(({ appId }) => appId);
  }

  /** Takes up to `limit` events of the app, the longest due first, for `hiddenSec`. */
  async claim(db: Queryable, appId: string, limit: number, hiddenSec: number): Promise<DueEvent[]> {
    const rows = await db.query<DueRow & { id: number }>(CLAIM, [appId, limit, hiddenSec]);
    return rows.map(toDueEvent);
  }

  /**
   * Lets changes of URLs reach up to `limit` events: those of apps without one are forgotten, the others have
   * failed never and are due. Answers how many they were.
   */
  async catchUp(db: Queryable, limit: number): Promise<number> {
    const [row] = await db.query<{ rows: number }>(CATCH_UP, [limit]);
    return row?.rows ?? 0;
  }

  /** It has arrived, or was given up. False, and nothing happens, when this try is not the last one any more. */
  async remove(db: Queryable, { event, handOut }: DueEvent): Promise<boolean> {
    return (await db.query(REMOVE, [event.sequence, handOut])).length > 0;
  }

  /**
   * It is due again in `waitSec`; busy was no failure, and its age begins anew. False, and nothing happens,
   * when this try is not the last one any more.
   */
  async wait(
    db: Queryable,
    { event, handOut }: DueEvent,
    waitSec: number,
    failures: number,
    isBusy = false,
  ): Promise<boolean> {
    const values = [event.sequence, handOut, waitSec, failures, isBusy];
    return (await db.query(WAIT, values)).length > 0;
  }
}

function toDueEvent(row: DueRow & { id: number }): DueEvent {
  const { sequence, type, data, createdAt, appId } = row;
  const { traceparent, handOut, failures, ageMs } = row;
  const { address } = toTarget(row);
  const event = { sequence, type, appId, address, call: toCall(row), data, createdAt };
  return { event, traceparent, handOut, failures, ageMs };
}

function toCall(row: DueRow): SentEvent['call'] {
  const { callId: id, serverName: name, serverTitle: title, tool, agentId, callTurnId } = row;
  if (id === null) return null;
  const server = name === null ? null : { name, title: title ?? name };
  return { id, server, tool, agentId, turnId: callTurnId };
}
