import { Injectable } from '@nestjs/common';
import type { CallMode } from '../../common/call-mode.js';
import { NotFoundError } from '../../common/domain-error.js';
import { notifyChannel } from '../../database/channel-listener.js';
import { Database } from '../../database/database.js';
import { McpServerDirectory } from '../registration/mcp-server.directory.js';
import { McpServerRepository } from '../registration/mcp-server.repository.js';
import { McpServerService } from '../registration/mcp-server.service.js';
import { ToolModeRepository } from './tool-mode.repository.js';
import type { LeftOutTool } from './tool-list.js';
import { UpstreamPool } from '../upstream-pool.js';
import type { UpstreamTool } from '../upstream-session.js';

/** A tool with what an administrator said about it. */
export interface KnownTool {
  name: string;
  background: CallMode;
  /** As the upstream tells it; undefined when its list lacks the tool. */
  told: UpstreamTool | undefined;
}

/** All that is known of the tools of a server. */
export interface KnownTools {
  tools: KnownTool[];
  /** What the upstream tells but what can't be offered. */
  leftOut: LeftOutTool[];
}

/** The tools of a server, and whether their calls may move to the background. */
@Injectable()
export class ToolService {
  constructor(
    private readonly database: Database,
    private readonly servers: McpServerService,
    private readonly serverRows: McpServerRepository,
    private readonly modes: ToolModeRepository,
    private readonly directory: McpServerDirectory,
    private readonly pool: UpstreamPool,
  ) {}

  /**
   * Asks the upstream for its list; tools that it lacks but about which something was said come last.
   * @throws NotFoundError when there is no such server.
   * @throws UpstreamFailure when the upstream does not answer.
   */
  async list(serverId: string): Promise<KnownTools> {
    const { tools: told, leftOut } = await this.pool.listTools(await this.servers.get(serverId));
    const modes = this.directory.toolModesOf(serverId);
    const names = new Set(told.map(({ name }) => name));
    const missing = [...modes].filter(([name]) => !names.has(name)).sort();
    const tools = [
      ...told.map((tool) => ({
        name: tool.name,
        background: modes.get(tool.name) ?? ('auto' as const),
        told: tool,
      })),
      ...missing.map(([name, background]) => ({ name, background, told: undefined })),
    ];
    return { tools, leftOut };
  }

  /**
   * Needs neither the upstream nor its list. In force on this replica when it resolves.
   * @throws NotFoundError when there is no such server.
   */
  async setMode(serverId: string, name: string, background: CallMode): Promise<void> {
    await this.database.transaction(async (tx) => {
      const server = await this.serverRows.lock(tx, serverId);
      if (server === undefined) throw new NotFoundError();
      await this.modes.upsert(tx, { serverId, name, background });
      await notifyChannel(tx, 'bgc_servers_changed');
    });
    await this.directory.refresh();
  }
}
