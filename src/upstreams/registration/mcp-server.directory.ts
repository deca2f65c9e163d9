import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import type { CallMode } from '../../common/call-mode.js';
import { Logger } from '../../common/logger.js';
import { ChannelListener } from '../../database/channel-listener.js';
import { Database } from '../../database/database.js';
import { RefreshedCopy } from '../../database/refreshed-copy.js';
import type { McpServer } from '../mcp-server.js';
import { McpServerRepository } from './mcp-server.repository.js';
import type { McpServerRow } from './mcp-server.row.js';
import { type ToolModeRow, ToolModeRepository } from '../tools/tool-mode.repository.js';

const POLL_MS = 30_000;

interface Snapshot {
  byName: ReadonlyMap<string, McpServer>;
  byId: ReadonlyMap<string, McpServer>;
  /** By server id, then by tool. */
  modes: ReadonlyMap<string, ReadonlyMap<string, CallMode>>;
}

type ChangeListener = (servers: readonly McpServerRow[]) => void;

/** The registered servers and what is said about their tools, in memory: a tool call reads no database. */
@Injectable()
export class McpServerDirectory implements OnModuleInit, BeforeApplicationShutdown {
  private readonly copy: RefreshedCopy<Snapshot>;
  private readonly listeners = new Set<ChangeListener>();

  constructor(
    private readonly repository: McpServerRepository,
    private readonly toolModes: ToolModeRepository,
    private readonly database: Database,
    listener: ChannelListener,
    logger: Logger,
  ) {
    const channel = 'bgc_servers_changed';
    const load = (): Promise<Snapshot> => this.load();
    this.copy = new RefreshedCopy({ channel, pollMs: POLL_MS, load, listener, logger });
  }

  async onModuleInit(): Promise<void> {
    await this.copy.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.copy.stop();
  }

  byName(name: string): McpServer | undefined {
    return this.copy.current.byName.get(name);
  }

  byId(id: string): McpServer | undefined {
    return this.copy.current.byId.get(id);
  }

  /** What an administrator said about this tool; undefined when nothing. */
  toolMode(serverId: string, tool: string): CallMode | undefined {
    return this.toolModesOf(serverId).get(tool);
  }

  /** All that an administrator said about tools of this server, whether they exist or not. */
  toolModesOf(serverId: string): ReadonlyMap<string, CallMode> {
    return this.copy.current.modes.get(serverId) ?? new Map();
  }

  /** Called with all servers after each load. */
  onChange(listener: ChangeListener): void {
    this.listeners.add(listener);
  }

  /** Resolves when what was committed before is in force here. @throws DatabaseUnavailableError */
  refresh(): Promise<void> {
    return this.copy.refresh();
  }

  private async load(): Promise<Snapshot> {
    const servers = await this.repository.all(this.database);
    const modes = await this.toolModes.all(this.database);
    for (const listener of this.listeners) listener(servers);
    return {
      byName: new Map(servers.map((server) => [server.name, server])),
      byId: new Map(servers.map((server) => [server.id, server])),
      modes: byServer(modes),
    };
  }
}

function byServer(rows: readonly ToolModeRow[]): Map<string, Map<string, CallMode>> {
  const modes = new Map<string, Map<string, CallMode>>();
  for (const { serverId, name, background } of rows) {
    const tools = modes.get(serverId) ?? new Map<string, CallMode>();
    modes.set(serverId, tools.set(name, background));
  }
  return modes;
}
