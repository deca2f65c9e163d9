import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { ignore } from '../common/ignore.js';
import { outsideRequestContext } from '../common/request-context.js';
import { Settings } from '../settings/settings.js';
import { callScope, type ConnectionScope, sharedScope } from './connections/connection-scope.js';
import { ConnectionSet } from './connections/connection-set.js';
import { connectionKey, type McpServer } from './mcp-server.js';
import { maskedCall, maskedListener, maskFailure } from './connections/masked-call.js';
import { type BorrowedSession, PooledCall } from './pooled-call.js';
import { goOn, refuseForeign, ResumedCall } from './resumed-call.js';
import { secretMask } from './connections/secret-mask.js';
import type { SharedConnection } from './connections/shared-connection.js';
import { StartBackoffs } from './connections/start-backoffs.js';
import { TaskCall } from './tasks/task-call.js';
import type { ToolList } from './tools/tool-list.js';
import { ToolLists } from './tools/tool-lists.js';
import type {
  ToolRequest,
  UpstreamCall,
  UpstreamListener,
  UpstreamReference,
} from './upstream-call.js';
import { UpstreamFailure } from './upstream-failure.js';
import { type SessionCall, UpstreamConnector, type UpstreamSession } from './upstream-session.js';

/** To one server, from one process. */
const MAX_CONNECTIONS = 1_000;
/** Of one server over stdio: each connection is a program. */
const MAX_PROGRAMS = 100;

/** Told of each attempt to connect; a failure of undefined: the connection stands. */
export type ConnectListener = (server: McpServer, failure: UpstreamFailure | undefined) => void;

/**
 * The connections to the upstreams: for each server as it is configured one that its calls share, or
 * one for each session or each call, as its `sharing` says.
 */
@Injectable()
export class UpstreamPool implements OnApplicationShutdown {
  private readonly connections = new ConnectionSet();
  private readonly backoffs: StartBackoffs;
  private readonly tools: ToolLists;
  private readonly connectListeners = new Set<ConnectListener>();
  private readonly doubtListeners = new Set<(server: McpServer) => void>();
  private isShutDown = false;
  private calls = 0;

  constructor(
    private readonly connector: UpstreamConnector,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {
    this.backoffs = new StartBackoffs(clock);
    this.tools = new ToolLists((server) => this.borrow(server, sharedScope(server)), clock);
  }

  /**
   * Sends one `tools/call`, connecting first where needed. No time limit: deadlines are the caller's.
   * The listener is told nothing after the end.
   */
  call(server: McpServer, request: ToolRequest, listener: UpstreamListener): UpstreamCall {
    const mask = secretMask(server);
    const scope = callScope(server, request.initiator, (this.calls += 1));
    const masked = maskedListener(listener, mask);
    const call = new PooledCall(
      () => this.borrow(server, scope),
      (session) => this.starter(server, session, request, masked),
      () => masked.mayAsk?.() ?? Promise.resolve(true),
    );
    if (scope.use === 'call') void call.outcome.then(() => this.connections.close(scope));
    return maskedCall(call, mask);
  }

  /**
   * Goes on with a call that another process began. `upstream_lost`, outcome unknown, when that can't
   * be done; the call itself is never sent again.
   */
  resume(
    server: McpServer,
    reference: UpstreamReference,
    maxResultBytes: number,
    listener: UpstreamListener,
  ): UpstreamCall {
    const mask = secretMask(server);
    const masked = maskedListener(listener, mask);
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => (begin = resolve));
    const goingOn = (session: UpstreamSession): SessionCall => {
      begin();
      return goOn(session, reference, { listener: masked, maxResultBytes, clock: this.clock });
    };
    const call = new PooledCall(
      () => this.attach(server, reference),
      (session) => Promise.resolve(() => goingOn(session)),
    );
    return maskedCall(new ResumedCall(call, begun), mask);
  }

  /** Asks for every page of the tool list. @throws UpstreamFailure */
  listTools(server: McpServer): Promise<ToolList> {
    return this.tools.renew(server);
  }

  /** Connects if no connection stands, also while starts are held back. @throws UpstreamFailure */
  async probe(server: McpServer): Promise<void> {
    this.backoffs.tryNow(server);
    const lease = await this.borrow(server, sharedScope(server));
    if (!server.enabled) lease.retire();
    lease.giveBack();
  }

  onConnect(listener: ConnectListener): void {
    this.connectListeners.add(listener);
  }

  /** Told of each call that a connection that had stood did not carry, or not to its end. */
  onDoubt(listener: (server: McpServer) => void): void {
    this.doubtListeners.add(listener);
  }

  /** Drains the connections of servers that are not among these, or are configured otherwise by now. */
  keepOnly(servers: readonly McpServer[]): void {
    const keys = new Set(servers.filter(({ enabled }) => enabled).map(connectionKey));
    this.connections.keepOnly(keys);
    this.backoffs.keepOnly(keys);
    this.tools.keepOnly(keys);
  }

  /** Closes all connections; calls that are still in flight fail as lost. */
  async onApplicationShutdown(): Promise<void> {
    this.isShutDown = true;
    await this.connections.closeAll();
  }

  /** How a call of this tool is asked: as a task where the tool requires it, or offers it and the call may be one. */
  private async starter(
    server: McpServer,
    session: UpstreamSession,
    request: ToolRequest,
    listener: UpstreamListener,
  ): Promise<() => SessionCall> {
    const { clock } = this;
    const { tasks } = session;
    const support =
      tasks === undefined ? 'forbidden' : await this.tools.taskSupport(server, request.tool);
    const asTask = support === 'required' || (support === 'optional' && request.mayBeTask);
    return tasks !== undefined && asTask
      ? () =>
          TaskCall.begin(
            { session, tasks, listener, clock, maxResultBytes: request.maxResultBytes },
            request,
          )
      : () => session.call(request, listener);
  }

  /** A connection of its own, which nobody else borrows. */
  private async attach(server: McpServer, reference: UpstreamReference): Promise<BorrowedSession> {
    const http = refuseForeign(server, reference);
    if (this.isShutDown) throw leaving();
    const connection = this.connections.addApart(() =>
      outsideRequestContext(() => this.connector.attach(http, reference)),
    );
    const session = await connection.borrow();
    connection.retire();
    const giveBack = (): void => connection.giveBack();
    return { session, giveBack, keepSession: ignore, retire: ignore, doubt: ignore, lost: ignore };
  }

  private async borrow(server: McpServer, scope: ConnectionScope): Promise<BorrowedSession> {
    const connection = this.connectionFor(server, scope);
    const session = await connection.borrow();
    const doubt = (): void => {
      connection.retire();
      for (const listener of this.doubtListeners) listener(server);
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
      if (use === 'shared') this.tools.follow(server, session);
      this.tell(server, undefined);
      return session;
    } catch (error) {
      if (error instanceof UpstreamFailure && !signal.aborted) this.tell(server, error);
      throw error;
    }
  }

  private tell(server: McpServer, failure: UpstreamFailure | undefined): void {
    this.backoffs.tried(server, failure);
    for (const listener of this.connectListeners) listener(server, failure);
  }
}

function leaving(): UpstreamFailure {
  return new UpstreamFailure('upstream_unreachable', 'The service is leaving.');
}
