import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Settings } from '../settings/settings.js';
import { callScope, sharedScope } from './connections/connection-scope.js';
import { maskedCall, maskedListener } from './connections/masked-call.js';
import { secretMask } from './connections/secret-mask.js';
import { type ConnectionListener, ServerConnections } from './connections/server-connections.js';
import { connectionKey, type McpServer } from './mcp-server.js';
import { type BorrowedSession, PooledCall } from './pooled-call.js';
import { goOn, refuseForeign, ResumedCall } from './resumed-call.js';
import { TaskCall } from './tasks/task-call.js';
import type { ToolList } from './tools/tool-list.js';
import { ToolLists } from './tools/tool-lists.js';
import type {
  ToolRequest,
  UpstreamCall,
  UpstreamListener,
  UpstreamReference,
} from './upstream-call.js';
import { type SessionCall, UpstreamConnector, type UpstreamSession } from './upstream-session.js';

/**
 * The calls to the upstreams: each asked on a connection that is borrowed for it, which for a server as it is
 * configured is one that its calls share, or one for each session or each call, as its `sharing` says.
 */
@Injectable()
export class UpstreamPool implements OnApplicationShutdown {
  private readonly connections: ServerConnections;
  private readonly tools: ToolLists;
  private readonly connectListeners = new Set<ConnectionListener['tried']>();
  private readonly doubtListeners = new Set<ConnectionListener['doubted']>();
  private calls = 0;

  constructor(
    connector: UpstreamConnector,
    settings: Settings,
    private readonly clock: Clock,
  ) {
    this.connections = new ServerConnections(connector, settings, clock, {
      tried: (server, failure) => this.connectListeners.forEach((tell) => tell(server, failure)),
      shared: (server, session) => this.tools.follow(server, session),
      doubted: (server) => this.doubtListeners.forEach((tell) => tell(server)),
    });
    const borrow = (server: McpServer): Promise<BorrowedSession> =>
      this.connections.borrow(server, sharedScope(server));
    this.tools = new ToolLists(borrow, clock);
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
      () => this.connections.borrow(server, scope),
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
      async () => this.connections.attach(refuseForeign(server, reference), reference),
      (session) => Promise.resolve(() => goingOn(session)),
    );
    return maskedCall(new ResumedCall(call, begun), mask);
  }

  /** Asks for every page of the tool list. @throws UpstreamFailure */
  listTools(server: McpServer): Promise<ToolList> {
    return this.tools.renew(server);
  }

  /** Connects if no connection stands, also while starts are held back. @throws UpstreamFailure */
  probe(server: McpServer): Promise<void> {
    return this.connections.probe(server);
  }

  /** Told of each attempt to connect; a failure of undefined: the connection stands. */
  onConnect(listener: ConnectionListener['tried']): void {
    this.connectListeners.add(listener);
  }

  /** Told of each call that a connection that had stood did not carry, or not to its end. */
  onDoubt(listener: ConnectionListener['doubted']): void {
    this.doubtListeners.add(listener);
  }

  /** Drains the connections of servers that are not among these, or are configured otherwise by now. */
  keepOnly(servers: readonly McpServer[]): void {
    const keys = new Set(servers.filter(({ enabled }) => enabled).map(connectionKey));
    this.connections.keepOnly(keys);
    this.tools.keepOnly(keys);
  }

  /** Closes all connections; calls that are still in flight fail as lost. */
  async onApplicationShutdown(): Promise<void> {
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
}
