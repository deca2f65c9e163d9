import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import { InFlightCalls } from '../src/background-calls/in-flight-calls.js';
import { DeliveryWaiters } from '../src/delivery/delivery-waiters.js';
import { ForegroundCalls } from '../src/tool-calls/foreground-calls.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { TestService } from './support/service.js';

const TIMES = 100;
const AT_ONCE = 50;

/** The upstream and the callers live in this process too: what they hold is counted with the rest. */
describe('what is held for a call', () => {
  let upstream: McpTestServer;
  let service: TestService;
  let engine: Engine;
  let before: Record<string, number>;

  beforeAll(async () => {
    upstream = await McpTestServer.start();
    service = await TestService.start();
    await service.register('test', upstream.url);
    await service.settings({ backgroundCalls: { maxPerTarget: TIMES, idleTimeoutSec: 60 } });
    engine = service.session();
    await times(AT_ONCE, () => engine.call('echo', {}, { turnId: 'warm' }));
    await engine.endTurn('warm');
    await eventually('quiet', () => upstream.openStreams('tools/call') === 0);
    before = held();
  });

  afterAll(async () => {
    await service.stop();
    await upstream.stop();
  });

  it.each<[string, () => Promise<unknown>]>([
    ['calls that are cancelled', cancelled],
    ['calls whose callers leave', () => aborted((signal) => gate({}, signal))],
    [
      'calls whose callers leave their turn',
      () => aborted((signal) => gate({ turnId: 't' }, signal)),
    ],
    ['polls that are aborted', () => aborted(poll)],
    ['waits for the end of a call that are aborted', () => aborted(waitForEnd)],
  ])(
    `is given back after ${TIMES} %s`,
    async (_, happen) => {
      await times(TIMES, happen);
      await engine.endTurn('t');
      await eventually(
        'nothing is held',
        async () => {
          await cancelRunning();
          const now = held();
          return Object.keys(now).every((name) => (now[name] ?? 0) <= (before[name] ?? 0));
        },
        15_000,
      ).catch(() => expect(held()).toEqual(before));
    },
    60_000,
  );

  /** A call whose caller left may still be on its way to the background: looked for each time. */
  async function cancelRunning(): Promise<void> {
    for (const { id, status, cancelRequestedAt } of await engine.list())
      if (status === 'running' && cancelRequestedAt === null) await engine.cancel(id as string);
  }

  async function cancelled(): Promise<void> {
    const { id } = await engine.callInBackground('gate', { name: 'never' });
    await engine.cancel(id);
    expect(await engine.get(id, 10)).toMatchObject({ status: 'cancelled' });
  }

  async function aborted(begin: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const caller = new AbortController();
    const begun = begin(caller.signal).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
    caller.abort();
    await begun;
  }

  function gate(more: object, signal: AbortSignal): Promise<unknown> {
    return engine.call('gate', { name: 'never' }, { ...more }, { signal });
  }

  /** Of a session of its own: what ended above is not to be received here. */
  function poll(signal: AbortSignal): Promise<unknown> {
    return service.agent.get('/v1/sessions/quiet/messages?wait=60', { signal });
  }

  async function waitForEnd(signal: AbortSignal): Promise<unknown> {
    const { id } = await engine.callInBackground('gate', { name: 'never' });
    const wait = service.agent.get(`/v1/background-calls/${id}?wait=60`, { signal });
    return wait.finally(() => void engine.cancel(id));
  }

  function held(): Record<string, number> {
    const resources = process.getActiveResourcesInfo();
    const count = (kind: string): number => resources.filter((one) => one === kind).length;
    return {
      // An idle connection of the pool has a timer of its own, 10 s long.
      timers: count('Timeout') - service.get(Pool).idleCount,
      inFlight: service.get(InFlightCalls).ids().length,
      foreground: service.get(ForegroundCalls).size,
      waiters: service.get(DeliveryWaiters).size,
      upstreamStreams: upstream.openStreams('tools/call'),
    };
  }
});

async function times(count: number, work: () => Promise<unknown>): Promise<void> {
  for (let done = 0; done < count; done += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, work));
}
