import { Injectable } from '@nestjs/common';
import { ConflictError, NotFoundError } from '../../common/domain-error.js';
import { Ids } from '../../common/ids.js';
import { type Page, type PageRequest, toPage } from '../../common/paging.js';
import { notifyChannel } from '../../database/channel-listener.js';
import { violates } from '../../database/database-failure.js';
import { Database, type Transaction } from '../../database/database.js';
import { connectionKey } from '../mcp-server.js';
import {
  applyPatch,
  type McpServerDraft,
  type McpServerPatch,
  toMcpServerFields,
} from './mcp-server-draft.js';
import { McpServerDirectory } from './mcp-server.directory.js';
import { cursorOf, McpServerRepository } from './mcp-server.repository.js';
import type { McpServerFields, McpServerRow } from './mcp-server.row.js';
import { StdioCommands } from './stdio-commands.js';

/** Registration of MCP servers. Nothing here connects to one: it may be down. */
@Injectable()
export class McpServerService {
  constructor(
    private readonly database: Database,
    private readonly repository: McpServerRepository,
    private readonly directory: McpServerDirectory,
    private readonly commands: StdioCommands,
    private readonly ids: Ids,
  ) {}

  /**
   * @throws InvalidRequestError when a field is missing or does not go with the transport.
   * @throws CommandNotAllowedError
   * @throws ConflictError when the name is taken.
   */
  async create(draft: McpServerDraft): Promise<McpServerRow> {
    const fields = toMcpServerFields(draft);
    this.commands.assertAllows(fields);
    return this.change((tx) => this.repository.insert(tx, this.ids.uuid(), fields));
  }

  async list(request: PageRequest): Promise<Page<McpServerRow>> {
    const rows = await this.repository.page(this.database, request);
    return toPage(rows, request.limit, cursorOf, (row) => row);
  }

  /** @throws NotFoundError */
  async get(id: string): Promise<McpServerRow> {
    return existing(await this.repository.find(this.database, id));
  }

  /**
   * Calls in flight go on with the old configuration; calls that start afterwards take the new one.
   * @throws NotFoundError
   * @throws InvalidRequestError when a field is missing or does not go with the transport.
   * @throws CommandNotAllowedError unless it is only disabled, renamed or retitled.
   * @throws ConflictError when the name is taken.
   */
  update(id: string, patch: McpServerPatch): Promise<McpServerRow> {
    return this.change(async (tx) => {
      const before = existing(await this.repository.lock(tx, id));
      const fields = applyPatch(before, patch);
      const isSameConnection = connectionKey({ id, ...fields }) === connectionKey(before);
      if (!isSameConnection || patch.enabled === true) this.commands.assertAllows(fields);
      const revision = isSameConnection ? before.revision : before.revision + 1;
      return this.repository.update(tx, id, fields, revision);
    });
  }

  /** What is said about its tools goes with it. Calls in flight go on. @throws NotFoundError */
  async remove(id: string): Promise<void> {
    await this.change(async (tx) => {
      if (!(await this.repository.delete(tx, id))) throw new NotFoundError();
    });
  }

  /** Registers it, or gives the one of this name this address. */
  async ensure(fields: McpServerFields): Promise<void> {
    await this.change((tx) => this.repository.upsertAddress(tx, this.ids.uuid(), fields));
  }

  /** In force on this replica when it resolves, on others within a second. */
  private async change<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    try {
      const result = await this.database.transaction(async (tx) => {
        await notifyChannel(tx, 'bgc_servers_changed');
        return work(tx);
      });
      await this.directory.refresh();
      return result;
    } catch (error) {
      throw violates(error, 'mcp_servers_name_unique') ? nameTaken() : error;
    }
  }
}

function existing(row: McpServerRow | undefined): McpServerRow {
  if (row === undefined) throw new NotFoundError();
  return row;
}

function nameTaken(): ConflictError {
  return new ConflictError('Another MCP server has this name.', [
    { pointer: '/name', detail: 'is taken' },
  ]);
}
