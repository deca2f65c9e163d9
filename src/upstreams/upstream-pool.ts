import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { outsideRequestContext } from '../common/request-context.js';
import { Settings } from '../settings/settings.js';
import { connectionKey, type McpServer } from './mcp-server.js';
import { type Lease, PooledCall } from './pooled-call.js';
import { SharedConnection } from './shared-connection.js';
import { walkToolList } from './tool-list.js';
import type { ProgressListener, ToolRequest, UpstreamCall } from './upstream-call.js';
import { UpstreamConnector, type UpstreamTool } from './upstream-session.js';

/** The connections to the upstreams: one for each server as it is configured, shared by its calls. */
@Injectable()
export class UpstreamPool implements OnApplicationShutdown {
  private readonly connections = new Map<string, SharedConnection>();

  constructor(
    private readonly connector: UpstreamConnector,
    private readonly settings: Settings,
  ) {}

  /**
   * Sends one `tools/call`, connecting first where needed. No time limit: deadlines are the caller's.
   * `onProgress` is not called after the end.
   */
  call(server: McpServer, request: ToolRequest, onProgress: ProgressListener): UpstreamCall {
    return new PooledCall(() => this.borrow(server), request, onProgress);
  }

  /** Every page of the tool list. @throws UpstreamFailure */
  async listTools(server: McpServer): Promise<UpstreamTool[]> {
    const lease = await this.borrow(server);
    try {
      return await walkToolList((cursor) => lease.session.listTools(cursor));
    } finally {
      lease.giveBack();
    }
  }

  /** Drains the connections of servers that are not among these, or are configured otherwise by now. */
  keepOnly(servers: readonly McpServer[]): void {
    const keys = new Set(servers.filter(({ enabled }) => enabled).map(connectionKey));
    for (const [key, connection] of this.connections) if (!keys.has(key)) connection.retire();
  }

  /** Closes all connections; calls that are still in flight fail as lost. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.connections.values()].map((connection) => connection.close()));
  }

  private async borrow(server: McpServer): Promise<Lease> {
    const connection = this.connectionFor(server);
    const session = await connection.borrow();
    return {
      session,
      giveBack: () => connection.giveBack(),
      retire: () => connection.retire(),
    };
  }

  /** Calls that come while a connection is being made wait for that one. */
  private connectionFor(server: McpServer): SharedConnection {
    const key = connectionKey(server);
    const existing = this.connections.get(key);
    if (existing !== undefined) return existing;
    const session = outsideRequestContext(() => this.connector.connect(server));
    const connection = new SharedConnection(
      session,
      () => this.settings.current.upstreams.idleCloseSec * 1_000,
      (leaving) => {
        if (this.connections.get(key) === leaving) this.connections.delete(key);
      },
    );
    this.connections.set(key, connection);
    session.catch(() => connection.retire());
    return connection;
  }
}
