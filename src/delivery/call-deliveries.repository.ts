import { Injectable } from '@nestjs/common';
import type { Queryable } from '../database/database.js';
import type { MessageState } from './message-state.js';
import type { Suppression } from './suppression.js';

/** How far the notification of a call's end has come. */
export interface CallDelivery {
  /** Null while the notification is in no message; `id` is a UUID. */
  message: { id: string; state: MessageState; attempts: number } | null;
  /** When the message was acknowledged. */
  notifiedAt: Date | null;
  /** Why it is told in no message; null: it was, or will be. */
  suppressed: Suppression | null;
}

interface DeliveryRow {
  callId: string;
  id: string | null;
  state: MessageState;
  attempts: number;
  deliveredAt: Date | null;
  suppressed: Suppression | null;
}

const SELECT = `
  SELECT notifications.call_id AS "callId", messages.id, messages.state, messages.attempts,
    messages.delivered_at AS "deliveredAt", notifications.suppressed
  FROM notifications
  LEFT JOIN messages ON messages.id = notifications.message_id
  WHERE notifications.call_id = ANY($1::uuid[]) AND notifications.input_sequence IS NULL`;

/** What became of the notifications of ended calls. */
@Injectable()
export class CallDeliveries {
  /** By call id; a call that has not ended has no entry. */
  async of(db: Queryable, callIds: string[]): Promise<Map<string, CallDelivery>> {
    if (callIds.length === 0) return new Map();
    const rows = await db.query<DeliveryRow>(SELECT, [callIds]);
    return new Map(rows.map((row) => [row.callId, toDelivery(row)]));
  }
}

function toDelivery({ id, state, attempts, deliveredAt, suppressed }: DeliveryRow): CallDelivery {
  const message = id === null ? null : { id, state, attempts };
  return { message, notifiedAt: deliveredAt, suppressed };
}
