import { Injectable } from '@nestjs/common';
import type { PageCursor, PageRequest } from '../../common/paging.js';
import type { Queryable, Transaction } from '../../database/database.js';
import {
  MCP_SERVER_COLUMNS as COLUMNS,
  type McpServerColumns,
  type McpServerFields,
  type McpServerRow,
  type StoredServerSecrets,
} from './mcp-server.row.js';
import { ServerSecrets } from './server-secrets.js';

const INSERT_COLUMNS = `
  INSERT INTO mcp_servers (id, name, title, enabled, transport, url, headers, command, args, env,
    sharing)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;

const INSERT = `${INSERT_COLUMNS}
  RETURNING ${COLUMNS}`;

const UPDATE = `
  UPDATE mcp_servers
  SET name = $2, title = $3, enabled = $4, transport = $5, url = $6, headers = $7, command = $8,
      args = $9, env = $10, sharing = $11, revision = $12, updated_at = now()
  WHERE mcp_servers.id = $1
  RETURNING ${COLUMNS}`;

// The demo is registered anew at each start; what an administrator changed besides its address stays.
const UPSERT_ADDRESS = `${INSERT_COLUMNS}
  ON CONFLICT ON CONSTRAINT mcp_servers_name_unique
    DO UPDATE SET transport = excluded.transport, url = excluded.url, command = NULL, args = '[]',
      env = '{}', revision = mcp_servers.revision + 1, updated_at = now()`;

const RESEAL = `
  UPDATE mcp_servers SET headers = $2, env = $3 WHERE mcp_servers.id = $1`;

const DELETE = `DELETE FROM mcp_servers WHERE mcp_servers.id = $1 RETURNING mcp_servers.id`;

const ALL = `SELECT ${COLUMNS} FROM mcp_servers`;
// In one order, so that two replicas that start together do not wait for each other in a circle.
const ALL_LOCKED = `${ALL} ORDER BY mcp_servers.id FOR UPDATE`;

const ONE = `SELECT ${COLUMNS} FROM mcp_servers WHERE mcp_servers.id = $1`;

const ONE_LOCKED = `${ONE} FOR UPDATE`;

const page = (order: 'asc' | 'desc'): string => `
  SELECT ${COLUMNS} FROM mcp_servers
  WHERE $1::timestamptz IS NULL
     OR (mcp_servers.created_at, mcp_servers.id) ${order === 'asc' ? '>' : '<'} ($1, $2::uuid)
  ORDER BY mcp_servers.created_at ${order}, mcp_servers.id ${order}
  LIMIT $3`;
const PAGES = { asc: page('asc'), desc: page('desc') };

@Injectable()
export class McpServerRepository {
  constructor(private readonly secrets: ServerSecrets) {}

  /** Fails on the constraint `mcp_servers_name_unique` when the name is taken. */
  async insert(db: Queryable, id: string, fields: McpServerFields): Promise<McpServerRow> {
    return one(await this.select(db, INSERT, [id, ...this.secrets.toColumnValues(id, fields)]));
  }

  /** Fails on the constraint `mcp_servers_name_unique` when the name is taken. */
  async update(
    db: Queryable,
    id: string,
    fields: McpServerFields,
    revision: number,
  ): Promise<McpServerRow> {
    const values = this.secrets.toColumnValues(id, fields);
    return one(await this.select(db, UPDATE, [id, ...values, revision]));
  }

  /** Registers it, or gives the one of this name this url. */
  async upsertAddress(db: Queryable, id: string, fields: McpServerFields): Promise<void> {
    await db.query(UPSERT_ADDRESS, [id, ...this.secrets.toColumnValues(id, fields)]);
  }

  /** Whether there was one. */
  async delete(db: Queryable, id: string): Promise<boolean> {
    return (await db.query(DELETE, [id])).length > 0;
  }

  async all(db: Queryable): Promise<McpServerRow[]> {
    return this.select(db, ALL, []);
  }

  async find(db: Queryable, id: string): Promise<McpServerRow | undefined> {
    return (await this.select(db, ONE, [id]))[0];
  }

  /** Locks the row, so that two changes of different fields both hold. */
  async lock(db: Queryable, id: string): Promise<McpServerRow | undefined> {
    return (await this.select(db, ONE_LOCKED, [id]))[0];
  }

  /** Up to `limit + 1` rows. */
  async page(db: Queryable, { limit, after, order }: PageRequest): Promise<McpServerRow[]> {
    return this.select(db, PAGES[order], [after?.createdAt, after?.id, limit + 1]);
  }

  /** The rows as they are stored, locked. */
  async lockAllStored(tx: Transaction): Promise<McpServerColumns[]> {
    return tx.query<McpServerColumns>(ALL_LOCKED);
  }

  /** Puts other seals around the same secrets. */
  async reseal(db: Queryable, id: string, { headers, env }: StoredServerSecrets): Promise<void> {
    await db.query(RESEAL, [id, JSON.stringify(headers), JSON.stringify(env)]);
  }

  private async select(db: Queryable, sql: string, values: unknown[]): Promise<McpServerRow[]> {
    const rows = await db.query<McpServerColumns>(sql, values);
    return rows.map((row) => this.secrets.toRow(row));
  }
}

/** The place of a row in the list. */
export function cursorOf({ createdAt, id }: McpServerRow): PageCursor {
  return { createdAt: createdAt.toISOString(), id };
}

function one(rows: McpServerRow[]): McpServerRow {
  return rows[0] as McpServerRow;
}
