import { describe, expect, it } from '@jest/globals';
import { runInRequestContext } from '../src/common/request-context.js';
import { ToolCallService } from '../src/tool-calls/tool-call.service.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import type { McpTestServer } from './support/mcp-server.js';
import { SETUPS, type ServiceUnderTest, useServiceOf } from './support/service-fixture.js';

describe.each(SETUPS)('callers that leave, and turns that are stopped: %s', (_, start) => {
  let upstream: McpTestServer;
  let service: ServiceUnderTest;
  let engine: Engine;
  useServiceOf(start, (fresh) => ({ upstream, service, engine } = fresh));

  /** A call whose connection is cut once the upstream has it. */
  async function cutCall(name: string, more: object): Promise<void> {
    const cut = new AbortController();
    const call = engine.call('gate', { name }, { ...more }, { signal: cut.signal });
    await upstream.untilCalled(1);
    cut.abort();
    await expect(call).rejects.toThrow();
  }

  it('aborts the upstream when the connection is cut and no turn was named, and leaves no row', async () => {
    await cutCall('cut-1', {});
    await upstream.until(() => upstream.aborted.length === 1);
    expect(upstream.cancelled).toHaveLength(1);
    expect(await engine.list()).toEqual([]);
  });

  it('hands a call over when the connection is cut and a turn was named, and tells its end', async () => {
    await cutCall('cut-2', { turnId: 'turn-1' });
    await engine.endTurn('turn-1');
    const [call] = await listed(1);
    expect(call).toMatchObject({ status: 'running', handover: 'client_timeout' });
    upstream.release('cut-2');
    const [message] = await engine.receive([call.id]);
    expect(message.text).toContain('gate cut-2');
    expect(upstream.aborted).toEqual([]);
    expect(upstream.calls).toHaveLength(1);
  });

  it('aborts such a call when the settings say so', async () => {
    await service.settings({ foreground: { onClientTimeout: 'cancel' } });
    await cutCall('cut-3', { turnId: 'turn-1' });
    await upstream.until(() => upstream.aborted.length === 1);
    await service.settings({ foreground: { onClientTimeout: 'background' } });
    expect(await engine.list()).toEqual([]);
  });

  it('tells the end of an abandoned call that found no free slot', async () => {
    const names = ['s1', 's2', 's3'];
    const running = [];
    for (const name of names) running.push(await engine.callInBackground('gate', { name }));
    await upstream.untilCalled(3);
    const cut = new AbortController();
    const call = engine.call('gate', { name: 's4' }, { turnId: 'turn-1' }, { signal: cut.signal });
    await upstream.untilCalled(4);
    cut.abort();
    await expect(call).rejects.toThrow();
    await engine.endTurn('turn-1');
    upstream.release('s4');
    const [told] = await engine.messages(10);
    expect(told.text).toContain('gate s4');
    expect((await engine.list()).filter(({ status }) => status === 'running')).toHaveLength(3);
    for (const name of names) upstream.release(name);
  });

  it('goes on with a call whose connection is cut after the 202', async () => {
    const { id } = await engine.callInBackground('gate', { name: 'after' });
    await upstream.untilCalled(1);
    upstream.release('after');
    expect(await engine.get(id, 10)).toMatchObject({ status: 'completed' });
  });

  it('aborts the foreground calls of a turn that is interrupted, and refuses new ones', async () => {
    const call = engine.call('gate', { name: 'stopped' }, { turnId: 'turn-1' });
    await upstream.untilCalled(1);
    expect((await engine.endTurn('turn-1', { interrupted: true })).status).toBe(200);
    expect(await call).toMatchObject({ status: 409, body: { code: 'turn_interrupted' } });
    await upstream.until(() => upstream.aborted.length === 1);
    const late = await engine.call('echo', {}, { turnId: 'turn-1' });
    expect(late).toMatchObject({ status: 409, body: { code: 'turn_interrupted' } });
    expect(await engine.list()).toEqual([]);
  });

  it('lets the calls of a turn that ended by itself go on', async () => {
    const call = engine.call('gate', { name: 'goes-on' }, { turnId: 'turn-1' });
    await upstream.untilCalled(1);
    await engine.endTurn('turn-1');
    upstream.release('goes-on');
    expect((await call).status).toBe(200);
  });

  it('fails a foreground call after its silence limit and after its total limit', async () => {
    await service.settings({ foreground: { timeoutSec: 0.4, maxWithProgressSec: 1 } });
    const silent = await engine.call('gate', { name: 'silent' });
    expect(silent).toMatchObject({ status: 504, body: { code: 'timeout', outcomeUnknown: true } });
    expect(silent.body.detail).toContain('0.4 s');
    const chatty = await engine.call('slow', { ms: 5_000, steps: 50 });
    expect(chatty.body.detail).toContain('1 s');
    await service.settings({ foreground: { timeoutSec: 600, maxWithProgressSec: 1_200 } });
    await upstream.until(() => upstream.aborted.length === 2);
  });

  it('causes no database statement for a foreground call without a turn', async () => {
    await engine.call('echo');
    const context = { requestId: 'req-1', statements: 0 };
    const request = {
      ...{ appId: await defaultAppId(), address: { type: 'session' as const, sessionId: 'quiet' } },
      ...{ server: 'test', tool: 'slow', arguments: { ms: 300, steps: 3 }, wish: {} },
      ...{ turnId: undefined, toolCallId: undefined, agentId: undefined, parentCallId: undefined },
      traceparent: undefined,
    };
    const calls = service.get(ToolCallService);
    const answer = await runInRequestContext(context, () =>
      calls.call(request, new AbortController().signal),
    );
    expect(answer.outcome).toBe('completed');
    expect(context.statements).toBe(0);
  });

  async function defaultAppId(): Promise<string> {
    const [app] = await service.sql<{ id: string }>(`SELECT id FROM apps WHERE name = 'default'`);
    if (!app) throw new Error('there is no app');
    return app.id;
  }

  async function listed(count: number): Promise<any[]> {
    return eventually(`there are ${count} calls`, async () => {
      const calls = await engine.list();
      return calls.length === count && calls;
    });
  }
});
