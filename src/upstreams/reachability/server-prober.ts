import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { drawChance } from '../../common/backoff.js';
import { connectionKey, type McpServer } from '../mcp-server.js';
import { McpServerDirectory } from '../registration/mcp-server.directory.js';
import type { McpServerRow } from '../registration/mcp-server.row.js';
import { probeBackoffMs } from './probe-backoff.js';
import type { StoredState } from './server-state.js';
import { ServerStates } from './server-states.js';
import { StdioCommands } from '../registration/stdio-commands.js';
import { UpstreamFailure } from '../upstream-failure.js';
import { UpstreamPool } from '../upstream-pool.js';

/** Longer than any attempt takes, so that a try that is under way is not taken for one that nobody made. */
const TAKE_OVER_MS = 35_000;
const TAKE_OVER_SPREAD_MS = 10_000;

/** A try that this replica will make by itself. */
interface Plan {
  /** Undefined while the try is under way. */
  timer: NodeJS.Timeout | undefined;
  key: string;
  /** In a row, seen by this replica. */
  failures: number;
  /** The `nextTryAt` that it stands for in the database; undefined: not written yet. */
  storedAt: number | undefined;
}

/**
 * Tries servers that were not reachable again until they are, and writes down what every attempt saw.
 * The replica whose failure was written down last makes the tries; the others stand by, each to take
 * over when a try is long overdue. Calls do not wait for any of this: they try by themselves.
 */
@Injectable()
export class ServerProber implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly plans = new Map<string, Plan>();
  private servers = new Map<string, McpServerRow>();
  private states: ReadonlyMap<string, StoredState> = new Map();
  private isRunning = false;

  constructor(
    private readonly pool: UpstreamPool,
    private readonly seen: ServerStates,
    private readonly commands: StdioCommands,
    directory: McpServerDirectory,
  ) {
    directory.onChange((servers) => {
      this.servers = new Map(servers.map((server) => [server.id, server]));
      this.follow();
    });
    seen.onChange((states) => {
      this.states = states;
      this.follow();
    });
    pool.onConnect((server, failure) => this.tried(server, failure));
    pool.onDoubt((server) => this.doubted(server));
  }

  onApplicationBootstrap(): void {
    this.isRunning = true;
    this.follow();
  }

  beforeApplicationShutdown(): void {
    this.isRunning = false;
    for (const id of this.plans.keys()) this.drop(id);
  }

  /** Takes what somebody saw who asked for it: it is written in any case. Resolves when it is. */
  async checked(server: McpServer, failure: UpstreamFailure | undefined): Promise<void> {
    const row = this.asConfigured(server);
    if (row === undefined) return;
    if (failure === undefined) await this.reached(row);
    else await this.failed(row, failure);
  }

  /** Takes what an attempt to connect saw; undefined: it stands. It is written only if it is news. */
  private tried(server: McpServer, failure: UpstreamFailure | undefined): void {
    const row = this.asConfigured(server);
    if (row === undefined) return;
    const plan = this.plans.get(row.id);
    if (failure !== undefined && plan?.timer === undefined) void this.failed(row, failure);
    if (failure === undefined && plan !== undefined) this.drop(row.id);
    if (failure === undefined && this.stateOf(row)?.reachable !== true) void this.reached(row);
  }

  private async reached(row: McpServerRow): Promise<void> {
    this.drop(row.id);
    await this.seen.record({ ...place(row), error: null, nextTryInMs: null });
  }

  private async failed(row: McpServerRow, { code, message }: UpstreamFailure): Promise<void> {
    const failures = (this.plans.get(row.id)?.failures ?? 0) + 1;
    this.drop(row.id);
    const isWorthTrying = row.enabled && this.commands.allows(row);
    const nextTryInMs = isWorthTrying ? probeBackoffMs(failures, drawChance()) : null;
    const plan = nextTryInMs === null ? undefined : this.plan(row, nextTryInMs, failures);
    const stored = await this.seen.record({ ...place(row), error: { code, message }, nextTryInMs });
    if (plan !== undefined) plan.storedAt = stored?.nextTryAt?.getTime();
    this.follow();
  }

  /** A call found a connection dead: whether the server is, a try at once will tell. */
  private doubted(server: McpServer): void {
    const row = this.asConfigured(server);
    if (row?.enabled && !this.plans.has(row.id)) this.plan(row, 0, 0);
  }

  /** Brings the plans in line with the registrations and with what other replicas wrote. */
  private follow(): void {
    if (!this.isRunning) return;
    for (const [id, { key }] of this.plans) {
      const row = this.servers.get(id);
      if (!row?.enabled || connectionKey(row) !== key) this.drop(id);
    }
    for (const row of this.servers.values()) if (row.enabled) this.followState(row);
  }

  private followState(row: McpServerRow): void {
    const plan = this.plans.get(row.id);
    const isOwn = plan !== undefined && (plan.timer === undefined || plan.storedAt === undefined);
    const state = this.stateOf(row);
    const nextTryAt = state?.nextTryAt?.getTime();
    if (isOwn || plan?.storedAt === nextTryAt) return;
    this.drop(row.id);
    if (nextTryAt === undefined) return;
    const overdueMs = Math.max(state?.dueInMs ?? 0, -TAKE_OVER_MS) + TAKE_OVER_MS;
    const standBy = this.plan(
      row,
      overdueMs + drawChance() * TAKE_OVER_SPREAD_MS,
      plan?.failures ?? 0,
    );
    standBy.storedAt = nextTryAt;
  }

  private plan(row: McpServerRow, waitMs: number, failures: number): Plan {
    const timer = setTimeout(() => void this.probe(row.id), waitMs);
    const plan = { timer, key: connectionKey(row), failures, storedAt: undefined };
    this.plans.set(row.id, plan);
    return plan;
  }

  private stateOf({ id, revision }: McpServerRow): StoredState | undefined {
    const state = this.states.get(id);
    return state?.revision === revision ? state : undefined;
  }

  private async probe(id: string): Promise<void> {
    const row = this.servers.get(id);
    const plan = this.plans.get(id);
    if (row === undefined || plan === undefined) return;
    plan.timer = undefined;
    const failure = await this.failureOf(row);
    // Not told yet when a connection stood already.
    if (this.plans.get(id) === plan) this.tried(row, failure);
  }

  private async failureOf(row: McpServerRow): Promise<UpstreamFailure | undefined> {
    try {
      await this.pool.probe(row);
      return undefined;
    } catch (error) {
      return error instanceof UpstreamFailure
        ? error
        : new UpstreamFailure('upstream_unreachable', `Unexpected: ${String(error)}`);
    }
  }

  private drop(id: string): void {
    clearTimeout(this.plans.get(id)?.timer);
    this.plans.delete(id);
  }

  /** Undefined when the server is gone or was changed since, and when this process is leaving. */
  private asConfigured(server: McpServer): McpServerRow | undefined {
    const row = this.isRunning ? this.servers.get(server.id) : undefined;
    return row !== undefined && connectionKey(row) === connectionKey(server) ? row : undefined;
  }
}

function place({ id, revision }: McpServerRow): { serverId: string; revision: number } {
  return { serverId: id, revision };
}
