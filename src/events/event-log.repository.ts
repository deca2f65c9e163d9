import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/database.js';
import type { EventType } from './event-type.js';

interface NewEvent {
  appId: string;
  targetId: number;
  callId?: string;
  type: EventType;
  /** Small: large arguments and results do not travel through events. */
  data?: Record<string, unknown>;
}

// One statement for all of it: who wants to be told of an event is settled when it happens.
const INSERT = `
  WITH written AS (
    INSERT INTO events (app_id, target_id, call_id, type, data)
    SELECT event.app_id, event.target_id, event.call_id, event.type, coalesce(event.data, '{}')
    FROM jsonb_to_recordset($1::jsonb)
      AS event (app_id uuid, target_id bigint, call_id uuid, type text, data jsonb)
    RETURNING events.id, events.app_id, events.call_id, events.type
  ), wanted AS (
    INSERT INTO event_deliveries (event_id, app_id)
    SELECT written.id, written.app_id
    FROM written
    JOIN apps ON apps.id = written.app_id AND apps.events_url IS NOT NULL
    LEFT JOIN background_calls ON background_calls.id = written.call_id
    WHERE (apps.events_types IS NULL OR written.type = ANY(apps.events_types))
      AND (apps.events_tools IS NULL
        OR background_calls.server_name || '/' || background_calls.tool = ANY(apps.events_tools))
      AND (apps.events_agents IS NULL OR background_calls.agent_id = ANY(apps.events_agents))
    RETURNING event_deliveries.app_id
  )
  SELECT pg_notify('bgc_event_deliveries', wanted.app_id::text) FROM wanted GROUP BY wanted.app_id`;

/** The append-only log of what happened. */
@Injectable()
export class EventLog {
  /** Writes one event in the transaction in which it happens: it is there if and only if that commits. */
  async append(tx: Transaction, event: NewEvent): Promise<void> {
    await this.appendAll(tx, [event]);
  }

  /** Writes several events with one statement, in their order. */
  async appendAll(tx: Transaction, events: NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    const rows = events.map(({ appId, targetId, callId, type, data }) => ({
      app_id: appId,
      target_id: targetId,
      call_id: callId,
      type,
      data,
    }));
    await tx.query(INSERT, [JSON.stringify(rows)]);
  }
}
