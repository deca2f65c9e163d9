import { Injectable } from '@nestjs/common';
import type { PageCursor, PageRequest } from '../common/paging.js';
import type { Queryable } from '../database/database.js';
import type { McpServer } from './mcp-server.js';

/** A registration with the times of its row. */
export type McpServerRow = McpServer & { createdAt: Date; updatedAt: Date };

export type McpServerFields = Omit<McpServer, 'id'>;

const COLUMNS = `mcp_servers.id, mcp_servers.name, mcp_servers.title, mcp_servers.transport,
  mcp_servers.url, mcp_servers.headers, mcp_servers.enabled,
  mcp_servers.created_at AS "createdAt", mcp_servers.updated_at AS "updatedAt"`;

const INSERT = `
  INSERT INTO mcp_servers (id, name, title, transport, url, headers, enabled)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  RETURNING ${COLUMNS}`;

const UPDATE = `
  UPDATE mcp_servers
  SET name = $2, title = $3, transport = $4, url = $5, headers = $6, enabled = $7, updated_at = now()
  WHERE mcp_servers.id = $1
  RETURNING ${COLUMNS}`;

// The demo is registered anew at each start; what an administrator changed besides its address stays.
const UPSERT_ADDRESS = `
  INSERT INTO mcp_servers (id, name, title, transport, url, headers, enabled)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT ON CONSTRAINT mcp_servers_name_unique
    DO UPDATE SET url = excluded.url, updated_at = now()`;

const DELETE = `DELETE FROM mcp_servers WHERE mcp_servers.id = $1 RETURNING mcp_servers.id`;

const ALL = `SELECT ${COLUMNS} FROM mcp_servers`;

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
  /** Answers nothing; fails on the constraint `mcp_servers_name_unique` when the name is taken. */
  async insert(db: Queryable, id: string, fields: McpServerFields): Promise<McpServerRow> {
    const [row] = await db.query<McpServerRow>(INSERT, [id, ...values(fields)]);
    return row as McpServerRow;
  }

  async update(db: Queryable, id: string, fields: McpServerFields): Promise<McpServerRow> {
    const [row] = await db.query<McpServerRow>(UPDATE, [id, ...values(fields)]);
    return row as McpServerRow;
  }

  /** Registers it, or gives the one of this name this url. */
  async upsertAddress(db: Queryable, id: string, fields: McpServerFields): Promise<void> {
    await db.query(UPSERT_ADDRESS, [id, ...values(fields)]);
  }

  /** Whether there was one. */
  async delete(db: Queryable, id: string): Promise<boolean> {
    return (await db.query(DELETE, [id])).length > 0;
  }

  async all(db: Queryable): Promise<McpServerRow[]> {
    return db.query<McpServerRow>(ALL);
  }

  async find(db: Queryable, id: string): Promise<McpServerRow | undefined> {
    return (await db.query<McpServerRow>(ONE, [id]))[0];
  }

  /** Locks the row, so that two changes of different fields both hold. */
  async lock(db: Queryable, id: string): Promise<McpServerRow | undefined> {
    return (await db.query<McpServerRow>(ONE_LOCKED, [id]))[0];
  }

  /** Up to `limit + 1` rows. */
  async page(db: Queryable, { limit, after, order }: PageRequest): Promise<McpServerRow[]> {
    return db.query<McpServerRow>(PAGES[order], [after?.createdAt, after?.id, limit + 1]);
  }
}

/** The place of a row in the list. */
export function cursorOf({ createdAt, id }: McpServerRow): PageCursor {
  return { createdAt: createdAt.toISOString(), id };
}

function values(fields: McpServerFields): unknown[] {
  const { name, title, transport, url, headers, enabled } = fields;
  return [name, title, transport, url, JSON.stringify(headers), enabled];
}
