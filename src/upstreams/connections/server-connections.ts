import type { Clock } from '../../common/clock.js';
import { ignore } from '../../common/ignore.js';
import { outsideRequestContext } from '../../common/request-context.js';
import type { Settings } from '../../settings/settings.js';
import type { HttpMcpServer, McpServer } from '../mcp-server.js';
import type { BorrowedSession } from '../pooled-call.js';
import type { UpstreamReference } from '../upstream-call.js';
import { UpstreamFailure } from '../upstream-failure.js';
import type { UpstreamConnector, UpstreamSession } from '../upstream-session.js';
import { type ConnectionScope, sharedScope } from './connection-scope.js';
import { ConnectionSet } from './connection-set.js';
import { maskFailure } from './masked-call.js';
import { secretMask } from './secret-mask.js';
import type { SharedConnection } from './shared-connection.js';
import { StartBackoffs } from './start-backoffs.js';

/** To one server, from one process. */
const MAX_CONNECTIONS = 1_000;
/** Of one server over stdio: each connection is a program. */
const MAX_PROGRAMS = 100;

/** What is told of the servers while their connections are made and used. */
export interface ConnectionListener {
  /** An attempt to connect; a failure of undefined: the connection stands. */
  tried(server: McpServer, failure: UpstreamFailure | undefined): void;
  /** A session that many calls will share stands, before any of them has it. */
  shared(server: McpServer, session: UpstreamSession): void;
  /** A connection that had stood did not carry a call, or not to its end. */
  doubted(server: McpServer): void;
}

/**
 * The connections to the servers, each as it is configured, and who may have one: made when somebody borrows
 * one, up to a limit, not while starts fail, and none after `closeAll`.
 */
export class ServerConnections {
  private readonly connections = new ConnectionSet();
  private readonly backoffs: StartBackoffs;
  private isShutDown = false;

  constructor(
    private readonly connector: UpstreamConnector,
    private readonly settings: Settings,
    clock: Clock,
    private readonly listener: ConnectionListener,
  ) {
    this.backoffs = new StartBackoffs(clock);
  }

  /** @throws UpstreamFailure when no connection is to be had. */
  async borrow(server: McpServer, scope: ConnectionScope): Promise<BorrowedSession> {
    const connection = this.connectionFor(server, scope);
    const session = await connection.borrow();
    const doubt = (): void => {
      connection.retire();
      this.listener.doubted(server);
    };
    return {
      session,
      giveBack: () => connection.giveBack(),
      keepSession: () => connection.keepSession(),
      retire: () => connection.retire(),
      doubt,
      // What the upstream keeps for a session or bot shall not go with one lost answer.
      lost: () => {
        if (scope.use !== 'shared') return;
        // The lost call may still run there; dropping its session would stop it.
        connection.keepSession();
        doubt();
      },
    };
  }

  /** A connection of its own to the session of another process, which nobody else borrows. @throws UpstreamFailure */
  async attach(server: HttpMcpServer, reference: UpstreamReference): Promise<BorrowedSession> {
    if (this.isShutDown) throw leaving();
    const connection = this.connections.addApart(() =>
      outsideRequestContext(() => this.connector.attach(server, reference)),
    );
    const session = await connection.borrow();
    connection.retire();
    const giveBack = (): void => connection.giveBack();
    return { session, giveBack, keepSession: ignore, retire: ignore, doubt: ignore, lost: ignore };
  }

  /** Connects if no connection stands, also while starts are held back. @throws UpstreamFailure */
  async probe(server: McpServer): Promise<void> {
    this.backoffs.tryNow(server);
    const lease = await this.borrow(server, sharedScope(server));
    if (!server.enabled) lease.retire();
    lease.giveBack();
  }

  /** Closes the one of this scope at once. */
  close(scope: ConnectionScope): Promise<void> {
    return this.connections.close(scope);
  }

  /** Drains those of servers that are not among these. */
  keepOnly(serverKeys: ReadonlySet<string>): void {
    this.connections.keepOnly(serverKeys);
    this.backoffs.keepOnly(serverKeys);
  }

  /** Resolves when nothing is left of any; no other one is made. */
  async closeAll(): Promise<void> {
    this.isShutDown = true;
    await this.connections.closeAll();
  }

  /** Calls that come while a connection is being made wait for that one. */
  private connectionFor(server: McpServer, scope: ConnectionScope): SharedConnection {
    const existing = this.connections.find(scope);
    if (existing !== undefined) return existing;
    if (this.isShutDown) throw leaving();
    this.backoffs.check(server);
    const limit = server.transport === 'stdio' ? MAX_PROGRAMS : MAX_CONNECTIONS;
    return this.connections.add(scope, limit, {
      connect: (signal) => this.connect(server, scope, signal),
      idleMs: () => this.settings.current.upstreams.idleCloseSec * 1_000,
    });
  }

  /** An attempt that was given up tells nothing about the server. */
  private async connect(
    server: McpServer,
    { use }: ConnectionScope,
    signal: AbortSignal,
  ): Promise<UpstreamSession> {
    try {
      const connecting = outsideRequestContext(() => this.connector.connect(server, use, signal));
      const session = await maskFailure(connecting, secretMask(server));
      if (use === 'shared') this.listener.shared(server, session);
      this.tried(server, undefined);
      return session;
    } catch (error) {
      if (error instanceof UpstreamFailure && !signal.aborted) this.tried(server, error);
      throw error;
    }
  }

  private tried(server: McpServer, failure: UpstreamFailure | undefined): void {
    this.backoffs.tried(server, failure);
    this.listener.tried(server, failure);
  }
}

function leaving(): UpstreamFailure {
  return new UpstreamFailure('upstream_unreachable', 'The service is leaving.');
}
