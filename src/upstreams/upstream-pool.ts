import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { outsideRequestContext } from '../common/request-context.js';
import { Settings } from '../settings/settings.js';
import { connectionKey, type McpServer } from './mcp-server.js';
import { maskedCall, maskedListener, maskFailure } from './masked-call.js';
import { type Lease, PooledCall } from './pooled-call.js';
import { secretMask } from './secret-mask.js';
import { SharedConnection } from './shared-connection.js';
import { StartBackoffs } from './start-backoffs.js';
import { ToolCache } from './tool-cache.js';
import { type ToolList, walkToolList } from './tool-list.js';
import type { ToolRequest, UpstreamCall, UpstreamListener } from './upstream-call.js';
import { UpstreamFailure } from './upstream-failure.js';
import { UpstreamConnector, type UpstreamSession } from './upstream-session.js';

/** Told of each attempt to connect; a failure of undefined: the connection stands. */
export type ConnectListener = (server: McpServer, failure: UpstreamFailure | undefined) => void;

/** The connections to the upstreams: one for each server as it is configured, shared by its calls. */
@Injectable()
export class UpstreamPool implements OnApplicationShutdown {
  /** Those that may be borrowed. */
  private readonly connections = new Map<string, SharedConnection>();
  /** Those of which anything is left, such as calls in flight or a program that is being ended. */
  private readonly open = new Set<SharedConnection>();
  private readonly backoffs: StartBackoffs;
  private readonly tools: ToolCache;
  private readonly connectListeners = new Set<ConnectListener>();
  private readonly doubtListeners = new Set<(server: McpServer) => void>();
  private isShutDown = false;

  constructor(
    private readonly connector: UpstreamConnector,
    private readonly settings: Settings,
    clock: Clock,
  ) {
    this.backoffs = new StartBackoffs(clock);
    this.tools = new ToolCache(clock);
  }

  /**
   * Sends one `tools/call`, connecting first where needed. No time limit: deadlines are the caller's.
   * The listener is told nothing after the end.
   */
  call(server: McpServer, request: ToolRequest, listener: UpstreamListener): UpstreamCall {
    const mask = secretMask(server);
    const told = maskedListener(listener, mask);
    return maskedCall(new PooledCall(() => this.borrow(server), request, told), mask);
  }

  /** Asks for every page of the tool list. @throws UpstreamFailure */
  listTools(server: McpServer): Promise<ToolList> {
    return this.tools.renew(connectionKey(server), () => this.askTools(server));
  }

  /** The tool list as it was told in the last 5 minutes, asked for where needed. @throws UpstreamFailure */
  knownTools(server: McpServer): Promise<ToolList> {
    return this.tools.get(connectionKey(server), () => this.askTools(server));
  }

  private async askTools(server: McpServer): Promise<ToolList> {
    const lease = await this.borrow(server);
    try {
      const listing = walkToolList((cursor) => lease.session.listTools(cursor));
      return await maskFailure(listing, secretMask(server));
    } finally {
      lease.giveBack();
    }
  }

  /** Connects if no connection stands, also while starts are held back. @throws UpstreamFailure */
  async probe(server: McpServer): Promise<void> {
    this.backoffs.tryNow(server);
    const lease = await this.borrow(server);
    if (!server.enabled) lease.retire();
    lease.giveBack();
  }

  onConnect(listener: ConnectListener): void {
    this.connectListeners.add(listener);
  }

  /** Told of each call that found a connection that had stood unable to carry its request. */
  onDoubt(listener: (server: McpServer) => void): void {
    this.doubtListeners.add(listener);
  }

  /** Drains the connections of servers that are not among these, or are configured otherwise by now. */
  keepOnly(servers: readonly McpServer[]): void {
    const keys = new Set(servers.filter(({ enabled }) => enabled).map(connectionKey));
    for (const [key, connection] of this.connections) if (!keys.has(key)) connection.retire();
    this.backoffs.keepOnly(keys);
    this.tools.keepOnly(keys);
  }

  /** Closes all connections; calls that are still in flight fail as lost. */
  async onApplicationShutdown(): Promise<void> {
    this.isShutDown = true;
    await Promise.all([...this.open].map((connection) => connection.close()));
  }

  private async borrow(server: McpServer): Promise<Lease> {
    const connection = this.connectionFor(server);
    const session = await connection.borrow();
    return {
      session,
      giveBack: () => connection.giveBack(),
      keepSession: () => connection.keepSession(),
      retire: () => connection.retire(),
      doubt: () => {
        connection.retire();
        for (const listener of this.doubtListeners) listener(server);
      },
    };
  }

  /** Calls that come while a connection is being made wait for that one. */
  private connectionFor(server: McpServer): SharedConnection {
    const key = connectionKey(server);
    const existing = this.connections.get(key);
    if (existing !== undefined) return existing;
    if (this.isShutDown)
      throw new UpstreamFailure('upstream_unreachable', 'The service is leaving.');
    this.backoffs.check(server);
    const connection = new SharedConnection({
      connect: (signal) => this.connect(server, signal),
      idleMs: () => this.settings.current.upstreams.idleCloseSec * 1_000,
      leavePool: (leaving) => {
        if (this.connections.get(key) === leaving) this.connections.delete(key);
      },
      onGone: (gone) => this.open.delete(gone),
    });
    this.connections.set(key, connection);
    this.open.add(connection);
    return connection;
  }

  /** An attempt that was given up tells nothing about the server. */
  private async connect(server: McpServer, signal: AbortSignal): Promise<UpstreamSession> {
    try {
      const connecting = outsideRequestContext(() => this.connector.connect(server, signal));
      const session = await maskFailure(connecting, secretMask(server));
      this.followTools(connectionKey(server), session);
      this.tell(server, undefined);
      return session;
    } catch (error) {
      if (error instanceof UpstreamFailure && !signal.aborted) this.tell(server, error);
      throw error;
    }
  }

  private followTools(key: string, session: UpstreamSession): void {
    this.tools.expire(key);
    session.onToolsChanged(() => this.tools.forget(key));
  }

  private tell(server: McpServer, failure: UpstreamFailure | undefined): void {
    this.backoffs.tried(server, failure);
    for (const listener of this.connectListeners) listener(server, failure);
  }
}
