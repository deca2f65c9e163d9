import { Injectable } from '@nestjs/common';
import { toStorableText } from '../../common/storable-text.js';
import type { Queryable } from '../../database/database.js';
import type { Sighting, StoredState } from './server-state.js';

const COLUMNS = `mcp_server_states.server_id AS "serverId", mcp_server_states.revision,
  mcp_server_states.reachable, mcp_server_states.checked_at AS "checkedAt",
  mcp_server_states.next_try_at AS "nextTryAt",
  CASE WHEN NOT mcp_server_states.reachable THEN json_build_object(
    'code', mcp_server_states.error_code, 'message', mcp_server_states.error_message) END AS error,
  (extract(epoch FROM now() - mcp_server_states.checked_at) * 1000)::float8 AS "ageMs",
  (extract(epoch FROM mcp_server_states.next_try_at - now()) * 1000)::float8 AS "dueInMs"`;

// What was seen before the last change of the server says nothing about it.
const ALL = `
  SELECT ${COLUMNS}
  FROM mcp_server_states
  JOIN mcp_servers ON mcp_servers.id = mcp_server_states.server_id
    AND mcp_servers.revision = mcp_server_states.revision`;

const SOME = `${ALL}
  WHERE mcp_server_states.server_id = ANY($1)`;

// Selects from mcp_servers because the server may be gone by now. An attempt on an older revision that
// comes late does not hide what was seen since.
const RECORD = `
  INSERT INTO mcp_server_states
    (server_id, revision, reachable, error_code, error_message, next_try_at)
  SELECT mcp_servers.id, $2, $3::text IS NULL, $3, $4, now() + $5::float8 * interval '1 ms'
  FROM mcp_servers WHERE mcp_servers.id = $1
  ON CONFLICT ON CONSTRAINT mcp_server_states_pk DO UPDATE
    SET revision = excluded.revision, reachable = excluded.reachable,
        error_code = excluded.error_code, error_message = excluded.error_message,
        checked_at = excluded.checked_at, next_try_at = excluded.next_try_at
    WHERE mcp_server_states.revision <= excluded.revision
  RETURNING ${COLUMNS}`;

@Injectable()
export class ServerStateRepository {
  /** Of the servers as they are configured now. */
  async all(db: Queryable): Promise<StoredState[]> {
    return db.query<StoredState>(ALL);
  }

  /** Of these servers as they are configured now; those that nobody has tried are left out. */
  async find(db: Queryable, serverIds: readonly string[]): Promise<StoredState[]> {
    return db.query<StoredState>(SOME, [serverIds]);
  }

  /** Undefined when the server is gone, or was changed and tried again since. */
  async record(db: Queryable, sighting: Sighting): Promise<StoredState | undefined> {
    const { serverId, revision, error, nextTryInMs } = sighting;
    const message = error && toStorableText(error.message);
    const values = [serverId, revision, error?.code, message, nextTryInMs];
    return (await db.query<StoredState>(RECORD, values))[0];
  }
}
