import { Injectable } from '@nestjs/common';
import type { CallMode } from '../../common/call-mode.js';
import type { Queryable } from '../../database/database.js';

/** What an administrator said about one tool. */
export interface ToolModeRow {
  serverId: string;
  name: string;
  background: CallMode;
}

const COLUMNS = `tools.server_id AS "serverId", tools.name, tools.background`;

const ALL = `SELECT ${COLUMNS} FROM tools`;

const UPSERT = `
  INSERT INTO tools (server_id, name, background)
  VALUES ($1, $2, $3)
  ON CONFLICT ON CONSTRAINT tools_pk DO UPDATE SET background = excluded.background, updated_at = now()`;

@Injectable()
export class ToolModeRepository {
  async all(db: Queryable): Promise<ToolModeRow[]> {
    return db.query<ToolModeRow>(ALL);
  }

  /** Fails on the constraint `tools_server_fk` when there is no such server. */
  async upsert(db: Queryable, { serverId, name, background }: ToolModeRow): Promise<void> {
    await db.query(UPSERT, [serverId, name, background]);
  }
}
