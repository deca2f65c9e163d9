import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../support/eventually.js';
import { ServiceProcess } from '../support/service-process.js';
import { Chance } from './chance.js';
import { ChaosWorld, type Delivery } from './chaos-world.js';
import type { Evidence } from './evidence.js';
import type { Habits } from './session-actor.js';

/** A death: at this failpoint, when it is come to for the n-th time. */
export interface Stage {
  point: string;
  nth: number;
}

const DEATH_WITHIN_MS = 60_000;
const HELD_TASKS = 3;
const NONE: Habits = {
  ...{
    always: 3,
    automatic: 2,
    foreground: 0,
    queued: 0,
    task: 0,
    question: 0,
    turn: 0,
    cancel: 0,
  },
  pauseMs: 20,
  longestMs: 100,
};

/** Of one stage: something of every kind happens soon. */
const SESSIONS: { name: string; delivery: Delivery; habits: Habits }[] = [
  { name: 'turns', delivery: 'pull', habits: { ...NONE, turn: 3 } },
  { name: 'cancels', delivery: 'pull', habits: { ...NONE, cancel: 4, longestMs: 400 } },
  { name: 'queues', delivery: 'pull', habits: { ...NONE, queued: 6, longestMs: 200 } },
  { name: 'asks', delivery: 'pull', habits: { ...NONE, question: 3, task: 2 } },
  { name: 'is-woken', delivery: 'webhook', habits: NONE },
];

/**
 * One database and one process after another on it: each dies at a failpoint, and the next one finds
 * what it has left. The last one lives, and everything is let run out.
 */
export class KillLane {
  /** The stages whose process died where it should. */
  readonly died = new Set<Stage>();
  private process: ServiceProcess | undefined;
  private starts = 0;

  private constructor(private readonly world: ChaosWorld) {}

  static async open(chance: Chance): Promise<KillLane> {
    return new KillLane(await ChaosWorld.create(chance));
  }

  /** Dies at each stage and answers everything that was seen. `holdsTasks`: some wait to be taken over. */
  async run(stages: Stage[], holdsTasks: boolean): Promise<Evidence> {
    if (holdsTasks) await this.holdTasks();
    for (const stage of stages) if (await this.die(stage)) this.died.add(stage);
    const last = await this.start({});
    this.world.upstreams.tasks.letGo();
    return this.world.settle([last]);
  }

  async close(): Promise<void> {
    await this.process?.end('SIGKILL');
    await this.world.close();
  }

  /** A process that dies with work that another one can go on with. */
  private async holdTasks(): Promise<void> {
    const { upstreams, sightings, database } = this.world;
    const first = await this.start({});
    upstreams.tasks.hold();
    for (let task = 1; task <= HELD_TASKS; task++) {
      const [sessionId, name] = ['held', `held.${task}`];
      const more = { server: 'lasting', background: { mode: 'always' } };
      const answer = await first.session(sessionId).call('research', { name, ms: 0 }, more);
      sightings.accept((answer.body.call as { id: string }).id, sessionId, name);
    }
    await eventually('the tasks can be taken over', async () => {
      const stored = await database.query(`
        SELECT background_calls.id FROM background_calls
        WHERE background_calls.upstream_reference IS NOT NULL`);
      return stored.length === HELD_TASKS;
    });
    await first.end('SIGKILL');
  }

  /** Whether the process died by itself. */
  private async die({ point, nth }: Stage): Promise<boolean> {
    const process = await this.start({ FAIL: point, FAIL_N: String(nth) }).catch((error: Error) => {
      if (!error.message.includes('SIGKILL')) throw error;
    });
    if (!process) return true;
    const over = new AbortController();
    const sessions = SESSIONS.map(({ name, ...session }) => ({
      sessionId: `${point}-${nth}-${name}`,
      ...session,
    }));
    const living = this.world.live(sessions, over.signal);
    const tooLong = sleep(DEATH_WITHIN_MS, undefined, { signal: over.signal });
    const ended = await Promise.race([process.whenEnded(), tooLong.catch(() => undefined)]);
    over.abort();
    await living;
    await process.end('SIGKILL');
    return ended === 'SIGKILL';
  }

  private async start(failure: Record<string, string>): Promise<ServiceProcess> {
    const { world } = this;
    this.starts += 1;
    const address = world.database.addressFor(`process-${this.starts}`);
    const started = await ServiceProcess.start({ ...world.environment(address), ...failure });
    this.process = started;
    world.url = (): string => started.url;
    if (this.starts === 1) await world.begin(started);
    return started;
  }
}
