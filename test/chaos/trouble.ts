import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from './chance.js';
import type { ChaosServer } from './chaos-server.js';
import { type ChaosWorld, LEASE_SEC } from './chaos-world.js';
import type { Replica } from './replica.js';

type Kind = 'kills' | 'leaves' | 'pauses' | 'cuts' | 'silences' | 'terminations' | 'restarts';

const KINDS: Kind[] = [
  'kills',
  'pauses',
  'cuts',
  'restarts',
  'terminations',
  'kills',
  'silences',
  'leaves',
];
/** Twice the time after which another replica takes it for dead. */
const PAUSE_MS = LEASE_SEC * 2_000;
const TERMINATE = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

/** Makes trouble of every kind, again and again, in an order and at times that are left to chance. */
export class Trouble {
  constructor(
    private readonly world: ChaosWorld,
    private readonly replicas: Replica[],
    private readonly server: ChaosServer,
    private readonly chance: Chance,
  ) {}

  /** One thing after another; it leaves with everything running. */
  async make(stop: AbortSignal): Promise<void> {
    let kinds: Kind[] = [];
    while (!stop.aborted) {
      if (kinds.length === 0) kinds = this.shuffled(KINDS);
      const kind = kinds.pop() as Kind;
      const replica = this.chance.oneOf(this.replicas);
      await this.happen(kind, replica);
      this.world.sightings.count(kind);
      await sleep(this.chance.between(300, 1_500));
    }
  }

  private async happen(kind: Kind, replica: Replica): Promise<void> {
    switch (kind) {
      case 'kills':
        await replica.end('SIGKILL');
        return void (await replica.start());
      case 'leaves':
        return this.leave(replica);
      case 'pauses':
        replica.pause();
        await sleep(PAUSE_MS);
        return replica.resume();
      case 'cuts':
        return this.withoutDatabase((each) => each.proxy.cut());
      case 'silences':
        return this.withoutDatabase((each) => each.proxy.fallSilent());
      case 'terminations':
        return void (await this.world.database.query(TERMINATE));
      case 'restarts':
        return this.server.restart(this.chance.between(0, 2_000));
    }
  }

  private async leave(replica: Replica): Promise<void> {
    const code = await replica.end('SIGTERM');
    if (code !== 0) this.world.sightings.odd.push(`${replica.name} left with ${code}`);
    await replica.start();
  }

  /** One of them, or all. */
  private async withoutDatabase(spoil: (replica: Replica) => void): Promise<void> {
    const spoilt = this.chance.happens(0.5) ? this.replicas : [this.chance.oneOf(this.replicas)];
    for (const replica of spoilt) spoil(replica);
    await sleep(this.chance.between(1_000, 3_000));
    for (const replica of spoilt) replica.proxy.restore();
  }

  private shuffled(kinds: Kind[]): Kind[] {
    const left = [...kinds];
    return kinds.map(() => left.splice(this.chance.between(0, left.length - 1), 1)[0] as Kind);
  }
}
