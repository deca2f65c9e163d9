import type { Client } from 'pg';
import { fromPublicId } from '../../src/common/ids.js';

/** All that the database holds of a call: it is the same as long as nobody has written about the call. */
interface CallRecord {
  status: string;
  ownerId: string;
  /** The whole row. */
  row: object;
  results: number;
  notifications: number;
  /** The types of its events, in order. */
  events: string[];
}

const RECORD = `
  SELECT background_calls.status, background_calls.owner_id AS "ownerId",
    to_jsonb(background_calls) AS row,
    (SELECT count(*)::int FROM call_results WHERE call_id = background_calls.id) AS results,
    (SELECT count(*)::int FROM notifications WHERE call_id = background_calls.id) AS notifications,
    ARRAY(SELECT type FROM events WHERE call_id = background_calls.id ORDER BY events.id) AS events
  FROM background_calls
  WHERE background_calls.id = $1`;

const INSTANCE = `
  SELECT instances.id FROM instances
  WHERE instances.pid = $1`;

export async function recordOf(database: Client, callId: string): Promise<CallRecord> {
  const { rows } = await database.query<CallRecord>(RECORD, [fromPublicId('bgc', callId)]);
  if (rows[0] === undefined) throw new Error(`there is no call ${callId}`);
  return rows[0];
}

/** The id under which a process runs calls; undefined while it has none. */
export async function instanceOf(database: Client, pid: number): Promise<string | undefined> {
  const { rows } = await database.query<{ id: string }>(INSTANCE, [pid]);
  return rows[0]?.id;
}
