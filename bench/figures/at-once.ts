import { setTimeout as sleep } from 'node:timers/promises';
import { HealthProbe } from '../../test/support/health-probe.js';
import { residentBytes } from '../../test/support/process-memory.js';
import type { Client, Reply } from '../client.js';
import type { Figure, Measured } from '../figure.js';
import type { Replica } from '../ground.js';
import { ms, Sample } from '../sample.js';

const WARM = 100;
const CALLS = 1_000;
const SESSIONS = 20;
const LOOK_MS = 20;
const RETRY_MS = 500;

let refused = 0;

type Ask = (client: Client, count: number, n: number) => Promise<string>;

/** The upstream answers when it has got every one of them; the burst of callers is one, too. */
export const atOnce: Figure = {
  name: 'at-once',
  about: `${CALLS} calls at once on one upstream`,
  async measure(ground) {
    const replica = await ground.service();
    const measured: Measured[] = [];
    for (const [where, ask] of [
      ['foreground', inForeground],
      ['background', inBackground],
    ] as const) {
      await burst(replica, ask, WARM);
      measured.push(...(await watched(where, replica, ask)));
    }
    return measured;
  },
};

async function watched(where: string, replica: Replica, ask: Ask): Promise<Measured[]> {
  const { pid, url } = replica.process;
  const before = residentBytes(pid);
  let peak = before;
  const looking = setInterval(() => (peak = Math.max(peak, residentBytes(pid))), LOOK_MS);
  const probe = HealthProbe.start(url);
  refused = 0;
  const begun = performance.now();
  const answers = await burst(replica, ask, CALLS);
  const tookMs = performance.now() - begun;
  const health = new Sample(await probe.stop());
  clearInterval(looking);
  const right = answers.filter((answer, n) => answer === `answer of ${n}`).length;
  const wrong = answers.find((answer, n) => answer !== `answer of ${n}`);
  return [
    { what: `${where}: right answers`, value: `${right}${wrong ? `, such as ${wrong}` : ''}` },
    { what: `${where}: all answered after`, value: ms(tookMs) },
    { what: `${where}: refused with 503 before`, value: String(refused) },
    {
      what: `${where}: memory of the service`,
      value: `${((peak - before) / CALLS / 1_024).toFixed(0)} KB a call`,
      goal: '≤ 100 KB',
    },
    { what: `${where}: /healthz meanwhile`, value: `p50 ${ms(health.p50)}, p99 ${ms(health.p99)}` },
  ];
}

function burst({ client }: Replica, ask: Ask, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, (_, n) => ask(client, count, n)));
}

async function inForeground(client: Client, count: number, n: number): Promise<string> {
  const { status, body } = await client.call(sessionOf(n), 'together', { count, name: n }, 'never');
  return status === 200 ? (body.result.content[0].text as string) : JSON.stringify(body);
}

async function inBackground(client: Client, count: number, n: number): Promise<string> {
  const call = (): Promise<Reply> =>
    client.call(sessionOf(n), 'together', { count, name: n }, 'always');
  const { body } = await untilAccepted(call);
  const { body: ended } = await untilAccepted(() => client.ended(body.call.id as string));
  return ended.result.preview as string;
}

/** 503 says that nothing was done: an engine asks again. */
async function untilAccepted(ask: () => Promise<Reply>): Promise<Reply> {
  for (;;) {
    const reply = await ask();
    if (reply.status !== 503) return reply;
    refused += 1;
    await sleep(RETRY_MS);
  }
}

function sessionOf(n: number): string {
  return `s-${n % SESSIONS}`;
}
