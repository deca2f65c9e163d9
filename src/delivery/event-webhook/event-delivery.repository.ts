import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../../database/database.js';
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
  /** Milliseconds since the event. */
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

const CLAIM = `
  WITH due AS (
    SELECT event_deliveries.event_id
    FROM event_deliveries
    WHERE event_deliveries.app_id = $1 AND event_deliveries.due_at <= now()
    ORDER BY event_deliveries.due_at, event_deliveries.event_id
    LIMIT $2
    FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE event_deliveries
    SET hand_outs = event_deliveries.hand_outs + 1, due_at = now() + make_interval(secs => $3)
    FROM due
    WHERE event_deliveries.event_id = due.event_id
    RETURNING event_deliveries.event_id, event_deliveries.hand_outs, event_deliveries.failures
  )
  SELECT ${TARGET_COLUMNS}, events.id AS sequence, events.type, events.data,
    events.created_at AS "createdAt", events.call_id AS "callId",
    background_calls.server_name AS "serverName", background_calls.server_title AS "serverTitle",
    background_calls.tool, background_calls.agent_id AS "agentId",
    background_calls.turn_id AS "callTurnId", background_calls.traceparent,
    claimed.hand_outs AS "handOut", claimed.failures,
    (extract(epoch FROM now() - events.created_at) * 1000)::float8 AS "ageMs"
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
  SET due_at = now() + make_interval(secs => $3), failures = $4
  WHERE event_deliveries.event_id = $1 AND event_deliveries.hand_outs = $2
  RETURNING event_deliveries.event_id`;

const FORGET = `
  DELETE FROM event_deliveries
  WHERE event_deliveries.app_id = $1`;

// What is being sent is due, too: it may arrive at both addresses.
const BEGIN_ANEW = `
  UPDATE event_deliveries
  SET due_at = now(), failures = 0
  WHERE event_deliveries.app_id = $1`;

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

  /** None of the app's events is sent any more. */
  async forget(tx: Transaction, appId: string): Promise<void> {
    await tx.query(FORGET, [appId]);
  }

  /** All of the app's events that are on their way have failed never, and are due. */
  async beginAnew(tx: Transaction, appId: string): Promise<void> {
    await tx.query(BEGIN_ANEW, [appId]);
  }

  /** It has arrived, or was given up. False, and nothing happens, when this try is not the last one any more. */
  async remove(db: Queryable, { event, handOut }: DueEvent): Promise<boolean> {
    return (await db.query(REMOVE, [event.sequence, handOut])).length > 0;
  }

  /** It is due again in `waitSec`. False, and nothing happens, when this try is not the last one any more. */
  async wait(
    db: Queryable,
    { event, handOut }: DueEvent,
    waitSec: number,
    failures: number,
  ): Promise<boolean> {
    return (await db.query(WAIT, [event.sequence, handOut, waitSec, failures])).length > 0;
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
