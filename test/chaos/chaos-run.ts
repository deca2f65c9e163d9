import { setTimeout as sleep } from 'node:timers/promises';
import { Chance } from './chance.js';
import { ChaosServer } from './chaos-server.js';
import { ChaosWorld, type Delivery } from './chaos-world.js';
import type { Evidence } from './evidence.js';
import { Replica } from './replica.js';
import type { Habits } from './session-actor.js';
import { Trouble } from './trouble.js';

const REPLICAS = ['one', 'other'];
/** A slow machine gets more time for what a run must have seen to prove anything. */
export const LEAST = { accepted: 50, kills: 1, restarts: 1, receipts: 20, webhooks: 20 };
const LONGER = 3;
const LOOK_MS = 500;
const USUAL: Habits = {
  ...{
    always: 4,
    automatic: 4,
    foreground: 1,
    queued: 1,
    task: 2,
    question: 1,
    turn: 1,
    cancel: 2,
  },
  pauseMs: 200,
  longestMs: 600,
};
/** Its turns are those that its messages begin. */
const WOKEN: Habits = { ...USUAL, turn: 0 };
const SESSIONS: { sessionId: string; delivery: Delivery; habits: Habits }[] = [
  ...['a', 'b', 'c', 'd'].map((name) => pulling(`pull-${name}`, USUAL)),
  pulling('pull-turns', { ...USUAL, turn: 12 }),
  pulling('pull-queues', { ...USUAL, queued: 12 }),
  pulling('pull-woken', WOKEN),
  { sessionId: 'hook-a', delivery: 'webhook', habits: USUAL },
  { sessionId: 'hook-turns', delivery: 'webhook', habits: { ...USUAL, turn: 12 } },
  { sessionId: 'hook-woken', delivery: 'webhook', habits: WOKEN },
];

function pulling(
  sessionId: string,
  habits: Habits,
): { sessionId: string; delivery: Delivery; habits: Habits } {
  return { sessionId, delivery: 'pull', habits };
}

/** Two replicas behind one address, in trouble for a while; then everything is let run out. */
export class ChaosRun {
  private requests = 0;

  private constructor(
    readonly world: ChaosWorld,
    private readonly replicas: Replica[],
    private readonly chance: Chance,
    private readonly server: ChaosServer,
  ) {
    world.url = (): string => this.nextUrl();
  }

  static async start(seed: number): Promise<ChaosRun> {
    const chance = new Chance(seed);
    const server = await ChaosServer.start();
    const world = await ChaosWorld.create(chance, server);
    const replicas = await Promise.all(REPLICAS.map((name) => Replica.create(name, world)));
    const [first] = await Promise.all(replicas.map((replica) => replica.start()));
    const run = new ChaosRun(world, replicas, chance, server);
    await world.begin(first!);
    return run;
  }

  async run(minutes: number): Promise<Evidence> {
    const over = new AbortController();
    const living = this.world.live(SESSIONS, over.signal);
    const chance = this.chance.for('trouble');
    const trouble = new Trouble(this.world, this.replicas, this.server, chance);
    const making = trouble.make(over.signal);
    await sleep(minutes * 60_000);
    await this.untilEnoughWasSeen((LONGER - 1) * minutes * 60_000);
    over.abort();
    await Promise.all([living, making]);
    const running = this.replicas.flatMap(({ running }) => running ?? []);
    const evidence = await this.world.settle(running);
    return { ...evidence, left: { ...evidence.left, ...(await this.leave()) } };
  }

  async close(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.close()));
    await this.world.close();
  }

  private async untilEnoughWasSeen(withinMs: number): Promise<void> {
    const { sightings } = this.world;
    const deadline = performance.now() + withinMs;
    const isEnough = (): boolean =>
      sightings.accepted.length >= LEAST.accepted &&
      (['kills', 'restarts', 'receipts', 'webhooks'] as const).every(
        (what) => sightings.counted(what) >= LEAST[what],
      );
    while (!isEnough() && performance.now() < deadline) await sleep(LOOK_MS);
  }

  /** What is left is nothing that keeps a process from leaving in order. */
  private async leave(): Promise<Record<string, number>> {
    const codes = await Promise.all(this.replicas.map((replica) => replica.end('SIGTERM')));
    return { 'processes that left with an error': codes.filter((code) => code !== 0).length };
  }

  /** The next one that a load balancer takes for alive. */
  private nextUrl(): string {
    this.requests += 1;
    const alive = this.replicas.flatMap(({ url }) => url ?? []);
    return alive[this.requests % alive.length] ?? 'http://127.0.0.1:1';
  }
}
