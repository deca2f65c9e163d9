import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../database/database.js';
import type { MessageState } from './message-state.js';
import type { ToldCall } from './told-call.js';

export interface NewMessage {
  id: string;
  appId: string;
  targetId: number;
  body: string;
  createdAt: Date;
}

/** A message that is handed out. */
export interface HandedOutMessage {
  /** UUID. */
  id: string;
  targetId: number;
  /** The JSON as it was frozen. */
  body: string;
  /** This try included. */
  attempts: number;
  told: ToldCall[];
}

export interface StoredMessage {
  /** UUID. */
  id: string;
  targetId: number;
  state: MessageState;
  attempts: number;
  deliveredAt: Date | null;
}

/** A message with the calls that it tells of. */
export interface AcknowledgedMessage extends StoredMessage {
  told: ToldCall[];
}

// A notification is as old as the end of its call: both were written in one transaction.
const TOLD = `(
    SELECT json_agg(json_build_object('callId', notifications.call_id,
      'sinceEndMs', extract(epoch FROM now() - notifications.created_at) * 1000))
    FROM notifications WHERE notifications.message_id = messages.id) AS told`;

// The state is asked for in the UPDATE that counts the try, in a statement of its own after the lock:
// a message that was acknowledged meanwhile is not handed out once more.
const COUNT_TRY = `
  UPDATE messages
  SET attempts = messages.attempts + 1
  WHERE messages.target_id = ANY($1::bigint[]) AND messages.state = 'pending'
  RETURNING messages.id, messages.target_id AS "targetId", messages.body, messages.attempts, ${TOLD}`;

const INSERT = `
  INSERT INTO messages (id, app_id, target_id, state, body, attempts, created_at)
  SELECT made.id, made.app_id, made.target_id, 'pending', made.body, 1, made.created_at
  FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::timestamptz[])
    AS made (id, app_id, target_id, body, created_at)`;

const FIND_OF_SESSIONS = `
  SELECT messages.id, messages.target_id AS "targetId", messages.state, messages.attempts,
    messages.delivered_at AS "deliveredAt"
  FROM messages
  JOIN targets ON targets.id = messages.target_id
  WHERE messages.id = $1 AND messages.app_id = $2 AND targets.kind = 'session'`;

const ACKNOWLEDGE = `
  UPDATE messages
  SET state = 'delivered', delivered_at = now()
  WHERE messages.id = $1 AND messages.state = 'pending'
  RETURNING messages.id, messages.target_id AS "targetId", messages.state, messages.attempts,
    messages.delivered_at AS "deliveredAt", ${TOLD}`;

const IS_OUT = `
  SELECT messages.id FROM messages
  WHERE messages.id = $1 AND messages.state = 'pending' AND messages.attempts = $2`;

/** The statements on messages; those that write need the lock of the target. */
@Injectable()
export class MessageRepository {
  /** Counts a try of the message that each target has out, and answers it. */
  async countTry(tx: Transaction, targetIds: number[]): Promise<HandedOutMessage[]> {
    return tx.query<HandedOutMessage>(COUNT_TRY, [targetIds]);
  }

  /** Makes messages whose first try is being made. */
  async insert(tx: Transaction, messages: NewMessage[]): Promise<void> {
    await tx.query(INSERT, [
      messages.map(({ id }) => id),
      messages.map(({ appId }) => appId),
      messages.map(({ targetId }) => targetId),
      messages.map(({ body }) => body),
      messages.map(({ createdAt }) => createdAt),
    ]);
  }

  /** Undefined when no session of the app has such a message. */
  async findOfSessions(
    db: Queryable,
    appId: string,
    id: string,
  ): Promise<StoredMessage | undefined> {
    const [row] = await db.query<StoredMessage>(FIND_OF_SESSIONS, [id, appId]);
    return row;
  }

  /** Undefined when the message was not pending any more. */
  async acknowledge(tx: Transaction, id: string): Promise<AcknowledgedMessage | undefined> {
    const [row] = await tx.query<AcknowledgedMessage>(ACKNOWLEDGE, [id]);
    return row;
  }

  /** Whether this very try is the last one and waits for its acknowledgement. */
  async isOut(tx: Transaction, { id, attempts }: HandedOutMessage): Promise<boolean> {
    const rows = await tx.query(IS_OUT, [id, attempts]);
    return rows.length > 0;
  }
}
