import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../client.js';
import type { Figure, Measured } from '../figure.js';
import { StatementCounter } from '../statement-counter.js';

const LIVES = 100;
const IDLE_MS = 5_000;

/** One call at a time, which is received by long poll and acknowledged. What goes on anyway is taken off. */
export const statements: Figure = {
  name: 'statements',
  about: 'statements in the life of a background call, from the 202 to the acknowledgement',
  async measure(ground) {
    const counter = await StatementCounter.start(ground.databaseUrl);
    const { client } = await ground.service({ DATABASE_URL: counter.url });
    await live(client);
    counter.take();
    await sleep(IDLE_MS);
    const idlePerMs = total(counter.take()) / IDLE_MS;
    const begun = performance.now();
    for (let n = 0; n < LIVES; n++) await live(client);
    const counted = counter.take();
    const idle = idlePerMs * (performance.now() - begun);
    counter.stop();
    const perLife = (total(counted) - idle) / LIVES;
    return [
      { what: 'all', value: perLife.toFixed(1), goal: '≤ 6' },
      ...counted.filter(([, count]) => count >= LIVES / 2).map(toMeasured),
    ];
  },
};

async function live(client: Client): Promise<void> {
  const receiving = client.messages('s');
  await client.callInBackground('s', 'echo', { a: 1 });
  for (const { id } of await receiving) await client.acknowledge(id);
}

function total(counted: [string, number][]): number {
  return counted.reduce((sum, [, count]) => sum + count, 0);
}

function toMeasured([statement, count]: [string, number]): Measured {
  return { what: `  ${statement}`, value: (count / LIVES).toFixed(1) };
}
