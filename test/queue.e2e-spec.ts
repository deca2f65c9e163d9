import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BackgroundCall } from '../src/background-calls/background-call.js';
import { BackgroundCallRegistry } from '../src/background-calls/background-call.registry.js';
import { toPublicId } from '../src/common/ids.js';
import { aHandoverRequest } from './support/a-handover-request.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { type Json, textResult } from './support/mcp-tools.js';
import { TestService } from './support/service.js';

const QUEUE = { background: { mode: 'always', onLimit: 'queue' } };
const LIMITS = {
  maxPerTarget: 1,
  maxRunning: null as number | null,
  maxPerAgent: null as number | null,
};

describe('the queue', () => {
  let upstream: McpTestServer;
  let first: TestService;
  let second: TestService;
  let serverId: string;
  let engine: Engine;
  let atOnce = 0;
  let mostAtOnce = 0;

  /** Counts how many of it run at the same time. */
  async function counted(): Promise<Json> {
    mostAtOnce = Math.max(mostAtOnce, (atOnce += 1));
    await sleep(30);
    atOnce -= 1;
    return textResult('counted');
  }

  beforeAll(async () => {
    upstream = await McpTestServer.start({ tools: { counted } });
    first = await TestService.start();
    second = await TestService.start({
      database: { url: first.databaseUrl, drop: async () => {} },
    });
    serverId = await first.register('test', upstream.url);
    await eventually('the other replica knows the server', async () => {
      const { status } = await second.session().call('echo');
      return status === 200;
    });
  });
  afterAll(async () => {
    await second?.stop();
    await first?.stop();
    await upstream.stop();
  });

  beforeEach(async () => {
    upstream.calls.length = 0;
    engine = first.session();
    await limits({});
  });

  it('takes a call for which no slot is free, and starts it as soon as one is', async () => {
    const running = await engine.callInBackground('gate', { name: 'running' });
    const answer = await engine.call('echo', { n: 1 }, QUEUE);
    expect(answer).toMatchObject({
      status: 202,
      body: {
        outcome: 'background',
        call: { status: 'queued', handover: 'queued', startedAt: null, deadlineAt: null },
      },
    });
    expect(answer.body.result.content[0].text).toContain('它正在排队，轮到时会自动开始。');
    expect(upstream.calls.map(({ tool }) => tool)).toEqual(['gate']);
    upstream.release('running');
    const call = await engine.get(answer.body.call.id, 10);
    expect(call).toMatchObject({ status: 'completed', outcomeUnknown: false });
    expect(Date.parse(call.startedAt)).toBeGreaterThanOrEqual(Date.parse(call.backgroundedAt));
    expect(call.deadlineAt).not.toBeNull();
    const messages = await engine.receive([running.id, call.id]);
    expect(messages.flatMap(({ notifications }) => notifications)).toHaveLength(2);
    expect(upstream.calls.map(({ tool }) => tool)).toEqual(['gate', 'echo']);
  });

  it('takes nothing for which a slot is free', async () => {
    const background = { mode: 'auto', onLimit: 'queue' };
    expect((await engine.call('echo', {}, { background })).status).toBe(200);
    expect(await engine.callInBackground('echo', {}, QUEUE)).toMatchObject({ status: 'running' });
  });

  it('takes a call that may move but never one that may not', async () => {
    await engine.callInBackground('gate', { name: 'blocks' });
    const auto = await engine.call('echo', {}, { background: { mode: 'auto', onLimit: 'queue' } });
    expect(auto).toMatchObject({ status: 202, body: { call: { status: 'queued' } } });
    const never = { background: { mode: 'never', onLimit: 'queue' } };
    expect((await engine.call('echo', {}, never)).status).toBe(200);
    upstream.release('blocks');
    expect(await engine.get(auto.body.call.id, 10)).toMatchObject({ status: 'completed' });
  });

  it('starts the oldest first, and lets nobody overtake', async () => {
    await engine.callInBackground('gate', { name: 'start' });
    const ids: string[] = [];
    for (const n of [1, 2, 3, 4])
      ids.push((await engine.callInBackground('echo', { n }, QUEUE)).id);
    upstream.release('start');
    for (const id of ids) expect(await engine.get(id, 10)).toMatchObject({ status: 'completed' });
    const order = upstream.calls.slice(1).map(({ arguments: { n } }) => n);
    expect(order).toEqual([1, 2, 3, 4]);
  });

  it('lets sessions take turns when all share one slot', async () => {
    await limits({ maxPerTarget: 3, maxRunning: 1 });
    const blocker = await first.session().callInBackground('gate', { name: 'shared' });
    const [long, short] = [first.session(), first.session()];
    const ids: string[] = [];
    for (const n of [1, 2, 3]) ids.push((await long.callInBackground('echo', { n }, QUEUE)).id);
    ids.push((await short.callInBackground('echo', { n: 100 }, QUEUE)).id);
    upstream.release('shared');
    for (const id of [blocker.id, ...ids]) await engine.get(id, 10);
    const order = upstream.calls.slice(1).map(({ arguments: { n } }) => n);
    expect(order.indexOf(100)).toBe(1);
    expect(order).toHaveLength(4);
  });

  it('holds up no other agent of the session when one is at its limit', async () => {
    await limits({ maxPerTarget: 5, maxPerAgent: 1 });
    await engine.callInBackground('gate', { name: 'agent-a' }, { agentId: 'a' });
    const waits = await engine.callInBackground('echo', {}, { ...QUEUE, agentId: 'a' });
    expect(waits.status).toBe('queued');
    const other = await engine.callInBackground('echo', {}, { ...QUEUE, agentId: 'b' });
    expect(await engine.get(other.id, 10)).toMatchObject({ status: 'completed' });
    expect(await engine.get(waits.id)).toMatchObject({ status: 'queued' });
    upstream.release('agent-a');
    expect(await engine.get(waits.id, 10)).toMatchObject({ status: 'completed' });
  });

  it('gives up a waiting call at once when it is cancelled, without asking the upstream', async () => {
    await engine.callInBackground('gate', { name: 'holds' });
    const { id } = await engine.callInBackground('echo', {}, QUEUE);
    expect(await engine.cancel(id)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
    upstream.release('holds');
    const messages = await engine.receive([id]);
    expect(messages.map(({ text }) => text).join()).toContain('在排队时已被取消');
    expect(upstream.calls.map(({ tool }) => tool)).toEqual(['gate']);
  });

  it('says why a call cannot start when its server is gone by then', async () => {
    await engine.callInBackground('gate', { name: 'last' });
    const { id } = await engine.callInBackground('echo', {}, QUEUE);
    await first.admin.patch(`/admin/v1/mcp-servers/${serverId}`, { enabled: false });
    upstream.release('last');
    const call = await engine.get(id, 10);
    await first.admin.patch(`/admin/v1/mcp-servers/${serverId}`, { enabled: true });
    expect(call).toMatchObject({
      status: 'failed',
      error: { code: 'upstream_unreachable' },
      outcomeUnknown: false,
    });
    await engine.receive([id]);
  });

  it('takes no call of a turn that was interrupted', async () => {
    await engine.callInBackground('gate', { name: 'turned' });
    await engine.startTurn('turn-1');
    await engine.endTurn('turn-1', { interrupted: true });
    const answer = await engine.call('echo', {}, { ...QUEUE, turnId: 'turn-1' });
    expect(answer).toMatchObject({ status: 409, body: { code: 'turn_interrupted' } });
    upstream.release('turned');
    expect(await engine.list()).toHaveLength(1);
  });

  it('keeps the limit and runs each call once with two replicas that both start calls', async () => {
    await limits({ maxPerTarget: 2 });
    const sessionId = `session-${randomUUID()}`;
    const engines = [first.session(sessionId), second.session(sessionId)];
    const calls = Array.from({ length: 24 }, (_, n) =>
      (engines[n % 2] as Engine).callInBackground('counted', { n }, QUEUE),
    );
    const ids = (await Promise.all(calls)).map(({ id }) => id);
    for (const id of ids)
      expect(await engines[0]?.get(id, 30)).toMatchObject({ status: 'completed' });
    expect(new Set(upstream.calls.map(({ arguments: { n } }) => n)).size).toBe(24);
    expect(upstream.calls).toHaveLength(24);
    expect(mostAtOnce).toBeLessThanOrEqual(2);
    const messages = (await engines[1]?.receive(ids)) ?? [];
    expect(messages.flatMap(({ notifications }) => notifications)).toHaveLength(24);
  });

  it('starts a call of a dead owner that surely was not dispatched, once', async () => {
    const { call, session } = await leftBehind(undefined);
    const id = toPublicId('bgc', call.id);
    expect(await session.get(id, 15)).toMatchObject({ status: 'completed' });
    expect(upstream.calls).toHaveLength(1);
    expect(await session.receive([id])).toHaveLength(1);
  });

  it('holds no call for dispatched before the connection to its server stands', async () => {
    let connect = (): void => undefined;
    const connected = new Promise<void>((resolve) => (connect = resolve));
    let isAsked = false;
    const slow = await McpTestServer.start({
      delayInitialize: async () => {
        isAsked = true;
        await connected;
      },
    });
    await first.register('slow-to-connect', slow.url);
    const { id } = await engine.callInBackground('echo', {}, { server: 'slow-to-connect' });
    await slow.until(() => isAsked);
    const dispatchedAt = async (): Promise<unknown> =>
      (
        await first.sql<{ at: Date | null }>(
          `SELECT background_calls.dispatched_at AS at FROM background_calls
           WHERE background_calls.server_name = 'slow-to-connect'`,
        )
      )[0]?.at;
    expect(await dispatchedAt()).toBeNull();
    connect();
    expect(await engine.get(id, 10)).toMatchObject({ status: 'completed' });
    expect(await dispatchedAt()).toBeInstanceOf(Date);
    await slow.stop();
  });

  it('never starts a call of a dead owner again that may have been dispatched', async () => {
    const { call, session } = await leftBehind(1);
    const id = toPublicId('bgc', call.id);
    expect(await session.get(id, 15)).toMatchObject({
      status: 'failed',
      error: { code: 'interrupted' },
      outcomeUnknown: true,
    });
    expect(upstream.calls).toHaveLength(0);
  });

  /** In force on both replicas when it resolves. */
  async function limits(changes: Partial<typeof LIMITS>): Promise<void> {
    const backgroundCalls = { ...LIMITS, ...changes };
    await first.settings({ backgroundCalls });
    await eventually('the other replica has the limits', async () => {
      const { body } = await second.admin.get('/admin/v1/settings');
      return (
        body.backgroundCalls.maxPerTarget === backgroundCalls.maxPerTarget &&
        body.backgroundCalls.maxRunning === backgroundCalls.maxRunning &&
        body.backgroundCalls.maxPerAgent === backgroundCalls.maxPerAgent
      );
    });
  }

  /** A call in the hands of an owner that has no lease. */
  async function leftBehind(
    runningForMs: number | undefined,
  ): Promise<{ call: BackgroundCall; session: Engine }> {
    const session = first.session();
    const [app] = await first.sql<{ id: string }>('SELECT apps.id FROM apps');
    const [server] = await first.sql<{ id: string }>('SELECT mcp_servers.id FROM mcp_servers');
    const request = aHandoverRequest({
      appId: app?.id ?? '',
      address: { type: 'session', sessionId: session.sessionId },
      server: { id: server?.id ?? '', name: 'test', title: 'Test' },
      ...{ handover: 'always', tool: 'echo', runningForMs },
    });
    const moved = await first.get(BackgroundCallRegistry).handOver(request);
    if (moved.kind !== 'moved') throw new Error(moved.kind);
    await first.sql(
      'UPDATE background_calls SET owner_id = gen_random_uuid() WHERE background_calls.id = $1',
      [moved.call.id],
    );
    return { call: moved.call, session };
  }
});
