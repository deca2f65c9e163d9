import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../database/database.js';
import type { MessageKind } from './message-kind.js';
import { type DeadReason, type MessageState, messageSourcesOf } from './message-state.js';
import type { ToldCall } from './told-call.js';

interface NewMessage {
  id: string;
  appId: string;
  targetId: number;
  kind: MessageKind;
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
  /** This try included; busy answers are not counted. */
  attempts: number;
  /** Which hand-out of the message this is: nobody else's has the number. */
  handOut: number;
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

/** A message that has just ended, with the calls that it tells of. */
export interface EndedMessage extends StoredMessage {
  /** It was the one that its target had out, not a dead letter and not held back behind another one. */
  wasOut: boolean;
  /** An administrator has had it sent again. */
  isRepeated: boolean;
  told: ToldCall[];
}

// A notification is as old as the end of its call: both were written in one transaction. A message can
// outlive its calls, when it was delivered late.
const TOLD = `(
    SELECT coalesce(json_agg(json_build_object('callId', notifications.call_id,
      'sinceEndMs', extract(epoch FROM now() - notifications.created_at) * 1000)), '[]')
    FROM notifications WHERE notifications.message_id = messages.id) AS told`;

// The state is asked for in the UPDATE that counts the try, in a statement of its own after the lock:
// a message that was acknowledged meanwhile is not handed out once more.
const COUNT_TRY = `
  UPDATE messages
  SET attempts = messages.attempts + 1, hand_outs = messages.hand_outs + 1, next_attempt_at = NULL
  WHERE messages.target_id = ANY($1::bigint[]) AND messages.state = 'pending'
    AND NOT messages.held_back
  RETURNING messages.id, messages.target_id AS "targetId", messages.body, messages.attempts,
    messages.hand_outs AS "handOut", ${TOLD}`;

const INSERT = `
  INSERT INTO messages (id, app_id, target_id, kind, state, body, attempts, created_at)
  SELECT made.id, made.app_id, made.target_id, made.kind, 'pending', made.body, 1, made.created_at
  FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::timestamptz[])
    AS made (id, app_id, target_id, kind, body, created_at)`;

const FIND_OF_SESSIONS = `
  SELECT messages.id, messages.target_id AS "targetId", messages.state, messages.attempts,
    messages.delivered_at AS "deliveredAt"
  FROM messages
  JOIN targets ON targets.id = messages.target_id
  WHERE messages.id = $1 AND messages.app_id = $2 AND targets.kind = 'session'`;

// The state before is read under the lock of the target, so that it is the one that the UPDATE finds.
const END = `
  WITH before AS (
    SELECT messages.id, messages.state = 'pending' AND NOT messages.held_back AS was_out
    FROM messages
    WHERE messages.id = $1 AND messages.state = ANY($4::text[]))
  UPDATE messages
  SET state = $2, dead_reason = $3, next_attempt_at = NULL, held_back = false,
    delivered_at = CASE WHEN $2 = 'delivered' THEN now() ELSE messages.delivered_at END
  FROM before
  WHERE messages.id = before.id
  RETURNING before.was_out AS "wasOut", messages.redelivered_at IS NOT NULL AS "isRepeated",
    messages.id, messages.target_id AS "targetId", messages.state, messages.attempts,
    messages.delivered_at AS "deliveredAt", ${TOLD}`;

const IS_OUT = `
  SELECT messages.id FROM messages
  WHERE messages.id = $1 AND messages.state = 'pending' AND messages.hand_outs = $2
    AND messages.next_attempt_at IS NULL`;

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
      messages.map(({ kind }) => kind),
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

  /** Undefined when the message can't end so any more: it has ended otherwise. */
  async end(
    tx: Transaction,
    id: string,
    state: Exclude<MessageState, 'pending'>,
    deadReason?: DeadReason,
  ): Promise<EndedMessage | undefined> {
    const [row] = await tx.query<EndedMessage>(END, [
      ...[id, state, deadReason, messageSourcesOf(state)],
    ]);
    return row;
  }

  /** Whether this very hand-out is the last one, and nothing is known yet of what became of it. */
  async isOut(tx: Transaction, { id, handOut }: HandedOutMessage): Promise<boolean> {
    const rows = await tx.query(IS_OUT, [id, handOut]);
    return rows.length > 0;
  }
}
