import { toPublicId } from '../../common/ids.js';
import type { TargetAddress } from '../../targets/target-address.js';

/** An event as it goes out. Nothing in it changes later, so that every try has the same bytes. */
export interface SentEvent {
  /** The place in the event log: events of one app are numbered in the order in which they were written. */
  sequence: number;
  type: string;
  appId: string;
  address: TargetAddress;
  /** Null: it belongs to no call. */
  call: EventCall | null;
  data: Record<string, unknown>;
  createdAt: Date;
}

export interface EventCall {
  /** UUID. */
  id: string;
  server: { name: string; title: string } | null;
  tool: string | null;
  agentId: string | null;
  turnId: string | null;
}

/** The id by which a receiver knows that it has the event already. */
export function eventWebhookId(sequence: number): string {
  return `evt_${sequence}`;
}

/** The JSON that is posted. */
export function eventWebhookBody(event: SentEvent): string {
  const { sequence, type, appId, address, call, data, createdAt } = event;
  return JSON.stringify({
    id: eventWebhookId(sequence),
    sequence,
    type,
    app: toPublicId('app', appId),
    target: address,
    call: call && { ...call, id: toPublicId('bgc', call.id) },
    data,
    createdAt: createdAt.toISOString(),
  });
}
