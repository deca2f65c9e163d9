import type { Client } from '../client.js';
import type { Figure } from '../figure.js';
import { machineMs, Sample } from '../sample.js';

const WARM = 20;
const CALLS = 200;
const TAKES_MS = 20;
const GOAL = 'p50 10 ms, p95 30 ms';

/** From the moment at which the upstream answers until the message is in the hands of who polls. */
export const endToReceived: Figure = {
  name: 'end-to-received',
  about: 'until the end of a call of an idle session is received by long poll',
  async measure(ground) {
    const { client } = await ground.service();
    const { client: other } = await ground.service();
    const here = await endings(client, client, 'here');
    const there = await endings(client, other, 'there');
    return [
      { what: 'by a poll on the same replica', value: String(here), goal: GOAL },
      { what: 'by a poll on another replica', value: String(there), goal: GOAL },
    ];
  },
};

async function endings(caller: Client, receiver: Client, session: string): Promise<Sample> {
  const tookMs: number[] = [];
  for (let n = 0; n < WARM + CALLS; n++) {
    const receiving = receiver.messages(session);
    await caller.callInBackground(session, 'stamp', { ms: TAKES_MS });
    const [message] = await receiving;
    tookMs.push(machineMs() - Number(message?.notifications[0]?.preview));
    await receiver.acknowledge(message!.id);
  }
  return new Sample(tookMs.slice(WARM));
}
