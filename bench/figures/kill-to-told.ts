import type { Client } from '../client.js';
import type { Figure } from '../figure.js';

const CALLS = 20;
const LONG_MS = 600_000;

/** With the lease that a service has by default. Each call is of a session of its own. */
export const killToTold: Figure = {
  name: 'kill-to-told',
  about: `from kill -9 of a replica with ${CALLS} calls until another one has told their ends`,
  async measure(ground) {
    const { client, process } = await ground.service();
    const { client: survivor } = await ground.service();
    for (let n = 0; n < CALLS; n++)
      await client.callInBackground(`s-${n}`, 'stamp', { ms: LONG_MS });
    const killedAt = performance.now();
    await process.end('SIGKILL');
    const toldAfter = await untilAllTold(survivor, killedAt);
    const seconds = (one: number | undefined): string => `${((one ?? NaN) / 1_000).toFixed(1)} s`;
    return [
      { what: 'the first', value: seconds(toldAfter[0]) },
      { what: 'the last', value: seconds(toldAfter.at(-1)) },
    ];
  },
};

async function untilAllTold(survivor: Client, sinceMs: number): Promise<number[]> {
  const toldAfter: number[] = [];
  while (toldAfter.length < CALLS)
    for (const { id, notifications } of await survivor.messages()) {
      for (let n = 0; n < notifications.length; n++) toldAfter.push(performance.now() - sinceMs);
      await survivor.acknowledge(id);
    }
  return toldAfter;
}
