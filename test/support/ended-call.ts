import { randomUUID } from 'node:crypto';
import type { Transaction } from '../../src/database/database.js';
import type { CallNotice } from '../../src/delivery/call-notice.js';
import type { LockedTarget } from '../../src/targets/target.repository.js';

const INSERT = `
  INSERT INTO background_calls (id, app_id, target_id, status, handover, server_id, server_name,
    server_title, tool, arguments, policy, error_code, cancel_requested_at, ended_at)
  VALUES ($1, $2, $3, $4, 'auto', $5, $6, $7, $8, '{}', '{}', $9,
    CASE WHEN $4 = 'cancelled' THEN now() END, now())`;

/** Inserts the row of a call that has ended as `notice` says. */
export async function insertEndedCall(
  tx: Transaction,
  target: LockedTarget,
  notice: CallNotice,
): Promise<void> {
  await tx.query(INSERT, [
    notice.callId,
    target.appId,
    target.id,
    notice.status,
    randomUUID(),
    notice.serverName,
    notice.serverTitle,
    notice.tool,
    notice.error?.code ?? null,
  ]);
}
