import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeSettings } from '../support/administration.js';
import { eventually } from '../support/eventually.js';
import { KEYS } from '../support/keys.js';
import type { TestDatabase } from '../support/test-database.js';
import type { ServiceProcess } from '../support/service-process.js';
import { CarefulApi } from './careful-api.js';
import { Chance } from './chance.js';
import { ChaosDatabase, HOOKS_KEY } from './chaos-database.js';
import { ChaosUpstreams } from './chaos-upstreams.js';
import type { Evidence } from './evidence.js';
import { HookReceiver, type HookFaults } from './hook-receiver.js';
import { leftBy } from './leftovers.js';
import { PullReceiver, type ReceiverFaults } from './pull-receiver.js';
import { type Habits, SessionActor } from './session-actor.js';
import { endOpenTurns, untilSettled } from './settling.js';
import { Sightings } from './sightings.js';

/** A session of this app is told by webhook, one of the other asks for its messages. */
export type Delivery = 'pull' | 'webhook';

export const LEASE_SEC = 2;
const FAILPOINTS = new URL('./failpoints.mjs', import.meta.url).href;
const WEBHOOK_TIMES = { sendMs: 3_000, marginMs: 1_000, tickMs: 200 };
const MAX_PER_TARGET = 3;
/** So that it need not be told to wait for what waits longest: an acknowledgement that was lost. */
const VISIBILITY_SEC = 1;
const SETTLED_WITHIN_MS = 60_000;
const FAULTS: ReceiverFaults & HookFaults = {
  losesAnswers: 0.1,
  losesAcknowledgements: 0.1,
  errs: 0.3,
};

/** Everything around the service: its database, MCP servers, callers and receivers, and what they have seen. */
export class ChaosWorld {
  readonly sightings = new Sightings();
  /** Where requests go. */
  url: () => string = () => 'http://127.0.0.1:1';
  private readonly apis: Record<Delivery, CarefulApi>;
  private readonly over = new AbortController();
  private receiving: Promise<void> | undefined;
  private readonly hooks: HookReceiver;

  private constructor(
    readonly database: ChaosDatabase,
    readonly upstreams: ChaosUpstreams,
    private readonly workspaces: string,
    private readonly chance: Chance,
  ) {
    const url = (): string => this.url();
    this.apis = {
      pull: new CarefulApi(url, KEYS.BGC_AGENT_KEY, this.sightings),
      webhook: new CarefulApi(url, HOOKS_KEY, this.sightings),
    };
    this.hooks = new HookReceiver(this.apis.webhook, this.sightings, chance.for('hooks'), FAULTS);
  }

  static async create(chance: Chance, server?: TestDatabase): Promise<ChaosWorld> {
    const [database, upstreams, workspaces] = await Promise.all([
      ChaosDatabase.create(server),
      ChaosUpstreams.start(),
      mkdtemp(join(tmpdir(), 'workspaces-')),
    ]);
    return new ChaosWorld(database, upstreams, workspaces, chance);
  }

  /** The environment of a process that connects to the database at this address. */
  environment(databaseUrl: string): Record<string, string> {
    return {
      BGC_INSTANCE_HEARTBEAT_SEC: String(LEASE_SEC / 4),
      BGC_INSTANCE_LEASE_SEC: String(LEASE_SEC),
      BGC_DRAIN_SEC: '3',
      BGC_WORKSPACES_DIR: this.workspaces,
      DATABASE_URL: databaseUrl,
      NODE_OPTIONS: `--import=${FAILPOINTS}`,
      HURRY: JSON.stringify(WEBHOOK_TIMES),
    };
  }

  /** What all processes are to know, told to the first one; then the receivers begin. */
  async begin({ admin }: ServiceProcess): Promise<void> {
    for (const server of this.upstreams.servers) {
      const { status, text } = await admin.post('/admin/v1/mcp-servers', server);
      if (status !== 201) throw new Error(text);
    }
    await changeSettings(admin, {
      backgroundCalls: { maxPerTarget: MAX_PER_TARGET },
      delivery: { visibilitySec: VISIBILITY_SEC },
      upstreams: { idleCloseSec: 1 },
    });
    const delivery = { mode: 'webhook', url: await this.hooks.open() };
    const { status, text } = await admin.patch(this.database.hooksAppPath, { delivery });
    if (status !== 200) throw new Error(text);
    const chance = this.chance.for('pull');
    const receiver = new PullReceiver(this.apis.pull, this.sightings, chance, FAULTS);
    this.receiving = receiver.live(this.over.signal);
  }

  /** Sessions that live until they are told to stop; each is told in its own way. */
  async live(
    sessions: { sessionId: string; delivery: Delivery; habits: Habits }[],
    stop: AbortSignal,
  ): Promise<void> {
    const turns = endOpenTurns(this.sightings, stop);
    const actors = sessions.map(({ sessionId, delivery, habits }) => {
      const chance = this.chance.for(sessionId);
      const api = this.apis[delivery];
      return new SessionActor(api, this.sightings, sessionId, chance, habits).live(stop);
    });
    await Promise.all([turns, ...actors]);
  }

  /** Lets everything run out, with receivers that err no more; `processes` are those that run. */
  async settle(processes: ServiceProcess[]): Promise<Evidence> {
    await this.mend(processes[0]);
    const settled = new AbortController();
    const turns = endOpenTurns(this.sightings, settled.signal);
    await untilSettled(this.database, SETTLED_WITHIN_MS);
    settled.abort();
    await turns;
    const left = await leftBy(processes, this.upstreams, this.workspaces, this.database);
    return {
      ...(await this.database.readRows()),
      ...this.sightings,
      executions: this.upstreams.executions,
      maxPerTarget: MAX_PER_TARGET,
      left,
    };
  }

  /** What waits after failures is sent at once, as to any new address. */
  private async mend(process: ServiceProcess | undefined): Promise<void> {
    const delivery = { url: this.hooks.mend() };
    const path = this.database.hooksAppPath;
    await eventually('the receiver of webhooks has moved', async () => {
      return (await process?.admin.patch(path, { delivery }))?.status === 200;
    });
  }

  async close(): Promise<void> {
    this.over.abort();
    await this.receiving;
    await this.hooks.close();
    await this.upstreams.stop();
    await this.database.drop();
    await rm(this.workspaces, { recursive: true, force: true });
  }
}
