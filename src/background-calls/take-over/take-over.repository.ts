import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/database.js';
import type { BackgroundCall } from '../background-call.js';
import { type BackgroundCallRow, CALL_COLUMNS, toBackgroundCall } from '../background-call.row.js';

// A question of the old owner is asked anew by the upstream, so the call runs again.
// From an owner without a lease, by one that has one; never from a living owner. A row that is this
// process's already is answered as well: whoever does not know what became of its COMMIT asks again.
const TAKE_OVER = `
  WITH held AS (
    SELECT background_calls.id, background_calls.owner_id FROM background_calls
    WHERE background_calls.id = $1
    FOR UPDATE)
  UPDATE background_calls
  SET owner_id = $2, status = 'running'
  FROM held, targets
  WHERE background_calls.id = $1 AND held.id = background_calls.id
    AND targets.id = background_calls.target_id
    AND background_calls.status IN ('running', 'input_required')
    AND background_calls.upstream_reference IS NOT NULL
    AND background_calls.cancel_requested_at IS NULL AND background_calls.deadline_at > now()
    AND (background_calls.owner_id = $2
      OR NOT EXISTS (SELECT FROM instances WHERE instances.id = background_calls.owner_id))
    AND EXISTS (SELECT FROM instances WHERE instances.id = $2)
  RETURNING ${CALL_COLUMNS}, held.owner_id = $2 AS "wasOurs",
    (extract(epoch FROM background_calls.deadline_at - clock_timestamp()) * 1000)::float8
      AS "remainingMs"`;

/** A call that this process took over. */
export interface TakenCall {
  call: BackgroundCall;
  /** Milliseconds until its deadline, by the database's clock. */
  remainingMs: number;
  /** It had been taken before. */
  wasOurs: boolean;
}

type TakenRow = BackgroundCallRow & Omit<TakenCall, 'call'>;

/** The move of a call from a dead owner to a living one. */
@Injectable()
export class TakeOverRepository {
  /** Undefined: its owner lives or it has none, it was cancelled or has ended, or we are fenced. */
  async takeOver(tx: Transaction, id: string, ownerId: string): Promise<TakenCall | undefined> {
    const [row] = await tx.query<TakenRow>(TAKE_OVER, [id, ownerId]);
    if (!row) return undefined;
    const { wasOurs, remainingMs } = row;
    return { call: toBackgroundCall(row), wasOurs, remainingMs: Math.max(0, remainingMs) };
  }
}
