import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { changeSettings } from '../support/administration.js';
import { eventually } from '../support/eventually.js';
import { KEYS } from '../support/service.js';
import { ServiceProcess } from '../support/service-process.js';
import { CarefulApi } from './careful-api.js';
import { Chance } from './chance.js';
import { ChaosDatabase } from './chaos-database.js';
import { ChaosUpstreams } from './chaos-upstreams.js';
import type { Evidence } from './evidence.js';
import { leftBy } from './leftovers.js';
import { PullReceiver } from './pull-receiver.js';
import { type Habits, SessionActor } from './session-actor.js';
import { endOpenTurns, untilSettled } from './settling.js';
import { Sightings } from './sightings.js';

/** A death: at this failpoint, when it is come to for the n-th time. */
export interface Stage {
  point: string;
  nth: number;
}

const FAILPOINTS = new URL('./failpoints.mjs', import.meta.url).href;
const ENV = {
  BGC_INSTANCE_HEARTBEAT_SEC: '0.3',
  BGC_INSTANCE_LEASE_SEC: '1',
  BGC_DRAIN_SEC: '5',
};
const MAX_PER_TARGET = 3;
const DEATH_WITHIN_MS = 40_000;
const SETTLED_WITHIN_MS = 60_000;
const HELD_TASKS = 3;

/** Of the sessions of one stage, so that something of every kind happens soon. */
const CALLS = {
  always: 3,
  automatic: 2,
  foreground: 0,
  queued: 0,
  task: 0,
  question: 0,
  turn: 0,
  cancel: 0,
};
const SESSIONS: Habits[] = [
  { ...CALLS, turn: 3, pauseMs: 20, longestMs: 100 },
  { ...CALLS, cancel: 4, pauseMs: 20, longestMs: 400 },
  { ...CALLS, queued: 6, pauseMs: 10, longestMs: 200 },
  { ...CALLS, question: 3, task: 2, pauseMs: 20, longestMs: 100 },
];

/**
 * One database and one process after another on it: each dies at a failpoint, and the next one finds
 * what it has left. The last one lives, and everything is let run out.
 */
export class KillLane {
  /** The stages whose process died where it should. */
  readonly died = new Set<Stage>();
  private readonly sightings = new Sightings();
  private readonly api: CarefulApi;
  private process: ServiceProcess | undefined;
  private url = 'http://127.0.0.1:1';
  private starts = 0;

  private constructor(
    private readonly name: string,
    private readonly database: ChaosDatabase,
    private readonly upstreams: ChaosUpstreams,
    private readonly workspaces: string,
  ) {
    this.api = new CarefulApi(() => this.url, KEYS.BGC_AGENT_KEY, this.sightings);
  }

  static async open(name: string): Promise<KillLane> {
    const [database, upstreams, workspaces] = await Promise.all([
      ChaosDatabase.create(),
      ChaosUpstreams.start(),
      mkdtemp(join(tmpdir(), 'workspaces-')),
    ]);
    return new KillLane(name, database, upstreams, workspaces);
  }

  /** Dies at each stage and answers everything that was seen. `holdsTasks`: some wait to be taken over. */
  async run(stages: Stage[], holdsTasks: boolean): Promise<Evidence> {
    const over = new AbortController();
    if (holdsTasks) await this.holdTasks();
    const faults = { losesAnswers: 0.1, losesAcknowledgements: 0.1 };
    const chance = new Chance(1).for(this.name);
    const receiver = new PullReceiver(this.api, this.sightings, chance, faults);
    const receiving = receiver.live(over.signal);
    try {
      for (const stage of stages) {
        const begun = performance.now();
        if (await this.die(stage)) this.died.add(stage);
        this.say(`${stage.point} ${stage.nth}: ${this.died.has(stage)}`, begun);
      }
      return await this.settle();
    } finally {
      over.abort();
      await receiving;
    }
  }

  async close(): Promise<void> {
    await this.process?.end('SIGKILL');
    await this.upstreams.stop();
    await this.database.drop();
    await rm(this.workspaces, { recursive: true, force: true });
  }

  /** A process that dies with work that another one can go on with. */
  private async holdTasks(): Promise<void> {
    const first = await this.start({});
    this.upstreams.tasks.hold();
    for (let task = 1; task <= HELD_TASKS; task++) {
      const [sessionId, name] = ['held', `held.${task}`];
      const more = { server: 'lasting', background: { mode: 'always' } };
      const args = { name, ms: 0 };
      const answer = await first.session(sessionId).call('research', args, more);
      this.sightings.accept((answer.body.call as { id: string }).id, sessionId, name);
    }
    await eventually('the tasks can be taken over', async () => {
      const stored = await this.database.query(`
        SELECT background_calls.id FROM background_calls
        WHERE background_calls.upstream_reference IS NOT NULL`);
      return stored.length === HELD_TASKS;
    });
    await first.end('SIGKILL');
  }

  /** What all processes are to know. */
  private async introduce({ admin }: ServiceProcess): Promise<void> {
    for (const { name, ...about } of this.upstreams.servers) {
      const { status, text } = await admin.post('/admin/v1/mcp-servers', { name, ...about });
      if (status !== 201) throw new Error(text);
    }
    await changeSettings(admin, {
      backgroundCalls: { maxPerTarget: MAX_PER_TARGET },
      delivery: { visibilitySec: 0.5 },
      upstreams: { idleCloseSec: 1 },
    });
  }

  /** Whether the process died by itself. */
  private async die({ point, nth }: Stage): Promise<boolean> {
    const over = new AbortController();
    const process = await this.start({ FAIL: point, FAIL_N: String(nth) }).catch((error: Error) => {
      if (!error.message.includes('SIGKILL')) throw error;
    });
    if (!process) return true;
    const turns = endOpenTurns(this.api, this.sightings, over.signal);
    const actors = SESSIONS.map((habits, index) => {
      const sessionId = `${point}-${nth}-${index}`;
      const chance = new Chance(1).for(sessionId);
      return new SessionActor(this.api, this.sightings, sessionId, chance, habits).live(
        over.signal,
      );
    });
    const tooLong = sleep(DEATH_WITHIN_MS, undefined, { signal: over.signal });
    const ended = await Promise.race([process.whenEnded(), tooLong.catch(() => undefined)]);
    over.abort();
    await Promise.all([...actors, turns]);
    await process.end('SIGKILL');
    return ended === 'SIGKILL';
  }

  private say(what: string, begun: number): void {
    const sec = ((performance.now() - begun) / 1_000).toFixed(1);
    process.stderr.write(`${this.name} ${what} after ${sec} s\n`);
  }

  private async settle(): Promise<Evidence> {
    const begun = performance.now();
    const last = await this.start({});
    this.say('last started', begun);
    this.upstreams.tasks.letGo();
    const over = new AbortController();
    const turns = endOpenTurns(this.api, this.sightings, over.signal);
    await untilSettled(this.database, SETTLED_WITHIN_MS);
    over.abort();
    this.say('settled', begun);
    await turns;
    const left = await leftBy([last], this.upstreams, this.workspaces);
    return {
      ...(await this.database.readRows()),
      ...this.sightings,
      executions: this.upstreams.executions,
      maxPerTarget: MAX_PER_TARGET,
      left,
    };
  }

  private async start(failure: Record<string, string>): Promise<ServiceProcess> {
    this.starts += 1;
    const started = await ServiceProcess.start({
      ...ENV,
      ...failure,
      NODE_OPTIONS: `--import=${FAILPOINTS}`,
      BGC_WORKSPACES_DIR: this.workspaces,
      DATABASE_URL: this.database.addressFor(`process-${this.starts}`),
    });
    this.process = started;
    if (this.starts === 1) await this.introduce(started);
    this.url = started.url;
    return started;
  }
}
