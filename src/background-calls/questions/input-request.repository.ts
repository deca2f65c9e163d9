import { Injectable } from '@nestjs/common';
import type { Queryable, Transaction } from '../../database/database.js';
import type { BackgroundCall } from '../background-call.js';
import { type BackgroundCallRow, CALL_COLUMNS, toBackgroundCall } from '../background-call.row.js';
import type { CloseReason, InputAnswer, StoredInputRequest } from './input-request.js';
import type { StorableQuestion } from './input-question.js';

/** An answer, or that nobody will give one. */
interface SettledInput {
  callId: string;
  sequence: number;
  answer: InputAnswer | undefined;
}

// Only the owner asks, as long as nobody fenced it and nobody asked for a cancel; and each question once,
// also when it was answered since.
const REQUIRE_INPUT = `
  UPDATE background_calls
  SET status = 'input_required', questions = $3
  FROM targets
  WHERE background_calls.id = $1 AND background_calls.status = 'running'
    AND background_calls.owner_id = $2 AND background_calls.cancel_requested_at IS NULL
    AND background_calls.questions < $3
    AND EXISTS (SELECT FROM instances WHERE instances.id = background_calls.owner_id)
    AND targets.id = background_calls.target_id
  RETURNING ${CALL_COLUMNS}`;

const INSERT = `
  INSERT INTO input_requests (call_id, sequence, message, schema)
  VALUES ($1, $2, $3, $4)
  RETURNING input_requests.asked_at AS "askedAt"`;

// Takes its slot back without asking for one. The transaction may have waited for the target's lock, so its
// beginning is not the moment of the answer.
const RESUME = `
  UPDATE background_calls
  SET status = 'running'
  FROM targets
  WHERE background_calls.id = $1 AND background_calls.status = 'input_required'
    AND background_calls.questions = $2 AND background_calls.cancel_requested_at IS NULL
    AND (background_calls.deadline_at IS NULL OR background_calls.deadline_at > clock_timestamp())
    AND targets.id = background_calls.target_id
  RETURNING ${CALL_COLUMNS}`;

const CLOSE = `
  UPDATE input_requests
  SET closed_at = now(), close_reason = $2, answer = $3
  WHERE input_requests.call_id = $1 AND input_requests.closed_at IS NULL
  RETURNING input_requests.sequence`;

// The same number may be another question in the hands of another owner.
const IS_ASKED = `
  SELECT FROM input_requests
  JOIN background_calls ON background_calls.id = input_requests.call_id
  WHERE input_requests.call_id = $1 AND input_requests.sequence = $3
    AND background_calls.owner_id = $2`;

const FIND = `
  SELECT input_requests.sequence, input_requests.message, input_requests.schema,
    input_requests.answer, input_requests.close_reason AS "closeReason"
  FROM input_requests
  WHERE input_requests.call_id = $1
    AND ($2::integer IS NULL OR input_requests.sequence = $2)
  ORDER BY input_requests.sequence DESC
  LIMIT 1`;

const LIST_SETTLED = `
  SELECT input_requests.call_id AS "callId", input_requests.sequence, input_requests.answer
  FROM unnest($1::uuid[], $2::integer[]) AS asked (call_id, sequence)
  JOIN input_requests ON input_requests.call_id = asked.call_id
    AND input_requests.sequence = asked.sequence
  WHERE input_requests.closed_at IS NOT NULL`;

type StoredRow = Omit<StoredInputRequest, 'schema'> & { schema: string };

/** Questions of upstreams and the moves of a call that belong to them. */
@Injectable()
export class InputRequestRepository {
  /** running → input_required; undefined when the call is not in a state, or not in hands, that allow it. */
  async ask(
    tx: Transaction,
    callId: string,
    ownerId: string,
    sequence: number,
    { message, schema }: StorableQuestion,
  ): Promise<{ call: BackgroundCall; askedAt: Date } | undefined> {
    const [row] = await tx.query<BackgroundCallRow>(REQUIRE_INPUT, [callId, ownerId, sequence]);
    if (!row) return undefined;
    const values = [callId, sequence, message, schema];
    const [asked] = await tx.query<{ askedAt: Date }>(INSERT, values);
    return asked && { call: toBackgroundCall(row), askedAt: asked.askedAt };
  }

  /** Whether this owner has asked the question of that number, open or closed. */
  async isAsked(
    tx: Transaction,
    callId: string,
    ownerId: string,
    sequence: number,
  ): Promise<boolean> {
    return (await tx.query(IS_ASKED, [callId, ownerId, sequence])).length > 0;
  }

  /** input_required → running, if it is this question that is open, there is time left, and no cancel. */
  async resume(
    tx: Transaction,
    callId: string,
    sequence: number,
  ): Promise<BackgroundCall | undefined> {
    const [row] = await tx.query<BackgroundCallRow>(RESUME, [callId, sequence]);
    return row && toBackgroundCall(row);
  }

  /** Closes the open question of the call; false: there is none. */
  async close(
    tx: Transaction,
    callId: string,
    reason: CloseReason,
    answer?: InputAnswer,
  ): Promise<boolean> {
    const rows = await tx.query(CLOSE, [callId, reason, answer && JSON.stringify(answer)]);
    return rows.length > 0;
  }

  /** A question of the call by its number, or its last one; undefined when it never asked that. */
  async find(
    db: Queryable,
    callId: string,
    sequence: number | undefined,
  ): Promise<StoredInputRequest | undefined> {
    const [row] = await db.query<StoredRow>(FIND, [callId, sequence]);
    return row && { ...row, schema: JSON.parse(row.schema) as Record<string, unknown> };
  }

  /** Those of the questions that are closed, with one statement. */
  async listSettled(db: Queryable, asked: Map<string, number>): Promise<SettledInput[]> {
    const rows = await db.query<{ callId: string; sequence: number; answer: string | null }>(
      LIST_SETTLED,
      [[...asked.keys()], [...asked.values()]],
    );
    return rows.map(({ answer, ...row }) => ({
      ...row,
      answer: answer === null ? undefined : (JSON.parse(answer) as InputAnswer),
    }));
  }
}
