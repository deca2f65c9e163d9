import { existsSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { HttpAdapterHost } from '@nestjs/core';
import { Pool } from 'pg';
import { InFlightCalls } from '../src/background-calls/in-flight/in-flight-calls.js';
import { DeliveryWaiters } from '../src/delivery/pull/delivery-waiters.js';
import { ForegroundCalls } from '../src/tool-calls/foreground-calls.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import type { TestService } from './support/service.js';
import { useService } from './support/service-fixture.js';

const TIMES = 100;
const AT_ONCE = 50;
/** Both are in this process. */
const ENDS_OF_A_CONNECTION = 2;

/** The upstream and the callers live in this process too: what they hold is counted with the rest. */
describe('what is held for a call', () => {
  let upstream: McpTestServer;
  let service: TestService;
  let engine: Engine;
  let before: Record<string, number>;
  /** An upstream that is restarted at the same address. */
  let restarted: McpTestServer;
  useService((fresh) => ({ upstream, service, engine } = fresh));

  beforeAll(async () => {
    restarted = await McpTestServer.start();
    await service.register('restarted', restarted.url);
    await service.settings({ backgroundCalls: { maxPerTarget: TIMES, idleTimeoutSec: 60 } });
    for (const server of ['test', 'restarted'])
      await times(AT_ONCE, () => engine.call('echo', {}, { turnId: 'warm', server }));
    await engine.endTurn('warm');
    await eventually('only the streams stand on which the upstreams tell news', async () => {
      await closeIdleConnections();
      return resources('TCPSocketWrap') === 2 * ENDS_OF_A_CONNECTION;
    });
    before = held();
  });

  afterAll(() => restarted.stop());

  it.each<[string, number, () => Promise<unknown>]>([
    ['calls that are cancelled', AT_ONCE, cancelled],
    ['calls whose callers leave', AT_ONCE, () => aborted((signal) => gate({}, signal))],
    [
      'calls whose callers leave their turn',
      AT_ONCE,
      () => aborted((signal) => gate({ turnId: 't' }, signal)),
    ],
    ['polls that are aborted', AT_ONCE, () => aborted(poll)],
    ['waits for the end of a call that are aborted', AT_ONCE, () => aborted(waitForEnd)],
    ['upstreams that are restarted', 1, restart],
    ['upstreams that are restarted in the middle of a call', 1, restartInMidCall],
    ['sessions that the upstream forgets', 1, forgetSession],
    ['connections that are cut in the middle of a call', 1, cutConnection],
  ])(
    `is given back after ${TIMES} %s`,
    async (_, atOnce, happen) => {
      await times(TIMES, happen, atOnce);
      await engine.endTurn('t');
      await eventually(
        'nothing is held',
        async () => {
          await cancelRunning();
          await closeIdleConnections();
          const now = held();
          return Object.keys(now).every((name) => (now[name] ?? 0) <= (before[name] ?? 0));
        },
        15_000,
      ).catch((error: Error) => expect({ error, ...held() }).toEqual(before));
    },
    120_000,
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
    await sleep(20);
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

  async function restart(): Promise<void> {
    const { port } = restarted;
    await restarted.stop();
    restarted = await McpTestServer.start({ port });
    expect((await engine.call('echo', {}, { server: 'restarted' })).status).toBe(200);
  }

  async function restartInMidCall(): Promise<void> {
    const { id } = await engine.callInBackground('gate', { name: 'x' }, { server: 'restarted' });
    await restarted.until(() => restarted.openStreams('tools/call') === 1);
    await restart();
    expect(await engine.get(id, 10)).toMatchObject({ error: { code: 'upstream_lost' } });
  }

  async function forgetSession(): Promise<void> {
    await restarted.forgetSessions();
    expect((await engine.call('echo', {}, { server: 'restarted' })).status).toBe(200);
  }

  async function cutConnection(): Promise<void> {
    const call = engine.call('gate', { name: 'never' });
    await upstream.until(() => upstream.openStreams('tools/call') > 0);
    await eventually('it is cut', () => upstream.cutStreams('tools/call') > 0);
    expect(await call).toMatchObject({ status: 502, body: { code: 'upstream_lost' } });
  }

  function held(): Record<string, number> {
    return {
      // An idle connection of the pool has a timer of its own, 10 s long.
      timers: resources('Timeout') - service.get(Pool).idleCount,
      inFlight: service.get(InFlightCalls).ids().length,
      foreground: service.get(ForegroundCalls).size,
      waiters: service.get(DeliveryWaiters).size,
      upstreamStreams: upstream.openStreams('tools/call'),
      children: resources('ProcessWrap'),
      descriptors: openDescriptors() - service.get(Pool).totalCount,
    };
  }

  /**
   * Clients keep theirs for the next request, also those whose request was aborted before it was sent;
   * that one has to come after both ends know of the close.
   */
  async function closeIdleConnections(): Promise<void> {
    service.get(HttpAdapterHost).httpAdapter.getHttpServer().closeAllConnections();
    for (const one of [upstream, restarted]) one.closeIdleConnections();
    await sleep(50);
  }
});

async function times(count: number, work: () => Promise<unknown>, atOnce = AT_ONCE): Promise<void> {
  for (let done = 0; done < count; done += atOnce)
    await Promise.all(Array.from({ length: atOnce }, work));
}

function resources(kind: string): number {
  return process.getActiveResourcesInfo().filter((one) => one === kind).length;
}

/** 0 where the system does not tell. */
function openDescriptors(): number {
  return existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0;
}
