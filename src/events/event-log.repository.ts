import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/database.js';

/** What can happen to a call, its message or the turn of its target. */
export type EventType =
  | 'background_call.queued'
  | 'background_call.running'
  | 'background_call.input_required'
  | 'background_call.resumed'
  | 'background_call.completed'
  | 'background_call.failed'
  | 'background_call.cancelled'
  | 'notification.suppressed'
  | 'message.pending'
  | 'message.delivered'
  | 'message.dead'
  | 'turn.started'
  | 'turn.ended';

export interface NewEvent {
  appId: string;
  targetId: number;
  callId?: string;
  type: EventType;
  /** Small: large arguments and results do not travel through events. */
  data?: Record<string, unknown>;
}

const INSERT = `
  INSERT INTO events (app_id, target_id, call_id, type, data)
  SELECT event.app_id, event.target_id, event.call_id, event.type, coalesce(event.data, '{}')
  FROM jsonb_to_recordset($1::jsonb)
    AS event (app_id uuid, target_id bigint, call_id uuid, type text, data jsonb)`;

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
