import type { Figure } from '../figure.js';
import type { Client } from '../client.js';
import { inParallel } from '../sample.js';
import { serviceCpuMs } from '../service-cost.js';

const SESSIONS = 50;
const CALLERS = 64;
const RECEIVERS = 2;
const WARM = 200;
const CALLS = 800;

/** The tool answers at once; every message is received and acknowledged. */
export const throughput: Figure = {
  name: 'throughput',
  about: `calls that one process accepts, runs and delivers: ${CALLERS} callers, ${SESSIONS} sessions`,
  async measure(ground) {
    const { client, process: service } = await ground.service();
    await acceptAndDeliver(client, WARM);
    const cpuBefore = await serviceCpuMs(service.url);
    const { acceptedSec, deliveredSec, messages } = await acceptAndDeliver(client, CALLS);
    const cpuMs = (await serviceCpuMs(service.url)) - cpuBefore;
    return [
      { what: 'accepted', value: `${(CALLS / acceptedSec).toFixed(0)} calls/s` },
      {
        what: 'accepted → delivered',
        value: `${(CALLS / deliveredSec).toFixed(0)} calls/s`,
        goal: '≥ 800 calls/s',
      },
      { what: 'calls in one message', value: (CALLS / messages).toFixed(1) },
      { what: 'processor time of the service', value: `${(cpuMs / CALLS).toFixed(1)} ms a call` },
    ];
  },
};

async function acceptAndDeliver(
  client: Client,
  calls: number,
): Promise<{ acceptedSec: number; deliveredSec: number; messages: number }> {
  const begun = performance.now();
  const seconds = (): number => (performance.now() - begun) / 1_000;
  let acceptedSec = 0;
  let told = 0;
  let messages = 0;
  const accept = inParallel(calls, CALLERS, (n) =>
    client.callInBackground(`s-${n % SESSIONS}`, 'echo', { n }),
  ).then(() => (acceptedSec = seconds()));
  const receive = async (): Promise<void> => {
    while (told < calls) {
      const received = await client.messages(undefined, 1);
      await Promise.all(received.map(({ id }) => client.acknowledge(id)));
      messages += received.length;
      for (const { notifications } of received) told += notifications.length;
    }
  };
  await Promise.all([accept, ...Array.from({ length: RECEIVERS }, receive)]);
  return { acceptedSec, deliveredSec: seconds(), messages };
}
