import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { Logger } from '../common/logger.js';
import { ChannelListener } from '../database/channel-listener.js';
import { Database } from '../database/database.js';
import type { McpServer, ToolMode } from './mcp-server.js';
import { McpServerRepository } from './mcp-server.repository.js';
import { ToolModeRepository } from './tool-mode.repository.js';

/** A change is told by NOTIFY; the poll is for a telling that was lost. */
const POLL_MS = 30_000;

type ChangeListener = (servers: readonly McpServer[]) => void;

/** The registered servers and what is said about their tools, in memory: a tool call reads no database. */
@Injectable()
export class McpServerDirectory implements OnModuleInit, OnApplicationShutdown {
  private servers = new Map<string, McpServer>();
  private modes = new Map<string, ToolMode>();
  private readonly listeners = new Set<ChangeListener>();
  private loading: Promise<void> = Promise.resolve();
  private nextLoad: Promise<void> | undefined;
  private poll: NodeJS.Timeout | undefined;

  constructor(
    private readonly database: Database,
    private readonly channels: ChannelListener,
    private readonly repository: McpServerRepository,
    private readonly toolModes: ToolModeRepository,
    private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    this.channels.on('bgc_servers_changed', () => this.refreshLater());
    this.channels.onReconnect(() => this.refreshLater());
    this.poll = setInterval(() => this.refreshLater(), POLL_MS);
    await this.refresh();
  }

  onApplicationShutdown(): void {
    clearInterval(this.poll);
  }

  byName(name: string): McpServer | undefined {
    return this.servers.get(name);
  }

  /** What an administrator said about this tool; undefined when nothing. */
  toolMode(serverId: string, tool: string): ToolMode | undefined {
    return this.modes.get(modeKey(serverId, tool));
  }

  /** Called with all servers after each load. */
  onChange(listener: ChangeListener): void {
    this.listeners.add(listener);
  }

  /**
   * Reads the rows again; what was committed before this call is in force when it resolves. Loads
   * follow one another, so that an earlier one can't overwrite what a later one saw.
   */
  refresh(): Promise<void> {
    this.nextLoad ??= this.loading.then(() => {
      this.nextLoad = undefined;
      return this.load();
    });
    this.loading = this.nextLoad.catch(() => undefined);
    return this.nextLoad;
  }

  private refreshLater(): void {
    this.refresh().catch((error: unknown) => {
      this.logger.warn('upstreams.directory_not_refreshed', {}, error);
    });
  }

  private async load(): Promise<void> {
    const servers = await this.repository.all(this.database);
    const modes = await this.toolModes.all(this.database);
    this.servers = new Map(servers.map((server) => [server.name, server]));
    this.modes = new Map(
      modes.map(({ serverId, name, background }) => [modeKey(serverId, name), background]),
    );
    for (const listener of this.listeners) listener(servers);
  }
}

function modeKey(serverId: string, tool: string): string {
  return `${serverId} ${tool}`;
}
