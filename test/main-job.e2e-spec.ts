import { describe, expect, it } from '@jest/globals';
import type { Engine } from './support/engine.js';
import type { McpTestServer } from './support/mcp-server.js';
import { SETUPS, type ServiceUnderTest, useServiceOf } from './support/service-fixture.js';

describe.each(SETUPS)('the main job of %s', (_, start) => {
  let upstream: McpTestServer;
  let service: ServiceUnderTest;
  let engine: Engine;
  useServiceOf(start, (fresh) => ({ upstream, service, engine } = fresh));

  it('passes a fast call through with its result as the upstream gave it', async () => {
    const { status, body } = await engine.call('echo', { text: 'hello' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      outcome: 'completed',
      result: { structuredContent: { text: 'hello' } },
      durationMs: expect.any(Number),
    });
    expect(await engine.list()).toEqual([]);
  });

  it('hands a slow call over, tells its progress, and delivers its result when the turn ends', async () => {
    const turn = { turnId: 'turn-1', toolCallId: 'toolu_1', agentId: 'agent-1' };
    const answer = await engine.call(
      'gate',
      { name: 'report' },
      { ...turn, background: { autoAfterSec: 0.2 } },
    );
    expect(answer.status).toBe(202);
    const { call, outcome, result } = answer.body;
    expect(outcome).toBe('background');
    expect(answer.headers.get('location')).toBe(`/v1/background-calls/${call.id}`);
    expect(result.content[0].text).toContain(`已转为后台执行（后台调用 ${call.id}）`);
    expect(call).toMatchObject({ ...turn, status: 'running', handover: 'auto', tool: 'gate' });
    expect(call).toMatchObject({ arguments: { name: 'report' }, app: 'default' });

    upstream.release('report', { content: [{ type: 'text', text: 'the report' }] });
    const ended = await engine.get(call.id, 10);
    expect(ended).toMatchObject({ status: 'completed', error: null, message: null });
    expect(ended.result).toMatchObject({ preview: 'the report', isError: false, truncated: false });
    expect(await engine.messages()).toEqual([]);

    await engine.endTurn('turn-1');
    const [message, ...others] = await engine.messages(10);
    expect(others).toEqual([]);
    expect(message.text).toContain('【后台调用完成】test · gate');
    expect(message.text).toContain('the report');
    expect(message.notifications).toMatchObject([{ callId: call.id, status: 'completed' }]);
    expect((await engine.ack(message.id)).status).toBe(200);
    expect(await engine.messages()).toEqual([]);
    const told = await engine.get(call.id);
    expect(told.message).toMatchObject({ id: message.id, state: 'delivered', attempts: 1 });
    expect(told.notifiedAt).not.toBeNull();
    expect(upstream.calls).toHaveLength(1);
  });

  it('keeps progress from before and after the handover', async () => {
    const { body } = await engine.call(
      'slow',
      { ms: 2_400, steps: 8 },
      { background: { autoAfterSec: 1 } },
    );
    expect(body.call.progress).toMatchObject({ total: 8, message: expect.stringMatching(/^step/) });
    const ended = await engine.get(body.call.id, 20);
    expect(ended.status).toBe('completed');
    expect(ended.progress).toMatchObject({ progress: 8, total: 8, message: 'step 8' });
  });

  it('answers an always call before the upstream does', async () => {
    const { id, status } = await engine.callInBackground('gate', { name: 'later' });
    expect(status).toBe('running');
    expect(await engine.get(id)).toMatchObject({ status: 'running', handover: 'always' });
    upstream.release('later');
    expect(await engine.get(id, 10)).toMatchObject({ status: 'completed' });
    expect(upstream.calls).toHaveLength(1);
  });

  it('hands a tool over at once when the administrator marked it, and never when excluded', async () => {
    const id = await service.register('marked', upstream.url);
    await service.markTool(id, 'slow', 'always');
    const always = await engine.call('slow', { ms: 50 }, { server: 'marked' });
    expect(always.status).toBe(202);
    await engine.receive([always.body.call.id]);

    await service.markTool(id, 'slow', 'never');
    const wish = { server: 'marked', background: { mode: 'always', autoAfterSec: 0.05 } };
    const never = await engine.call('slow', { ms: 400 }, wish);
    expect(never.status).toBe(200);
  });

  it('keeps the fourth call of a session in the foreground, and another session free', async () => {
    const names = ['a', 'b', 'c'];
    const calls = [];
    for (const name of names) calls.push(await engine.callInBackground('gate', { name }));
    const fourth = engine.call('gate', { name: 'd' }, { background: { autoAfterSec: 0.1 } });
    const always = engine.call('gate', { name: 'e' }, { background: { mode: 'always' } });
    await upstream.untilCalled(5);
    const other = await service.session().call('echo', {}, { background: { mode: 'always' } });
    expect(other.status).toBe(202);
    for (const name of [...names, 'd', 'e']) upstream.release(name);
    expect((await fourth).status).toBe(200);
    expect((await always).status).toBe(200);
    const messages = await engine.receive(calls.map(({ id }) => id));
    expect(messages.flatMap(({ notifications }) => notifications)).toHaveLength(3);
  });

  it('refuses a call over the limit with 429 when the policy says so, and asks nobody', async () => {
    for (const name of ['r1', 'r2', 'r3']) await engine.callInBackground('gate', { name });
    await upstream.untilCalled(3);
    const refused = await engine.call('echo', {}, { background: { onLimit: 'reject' } });
    expect(refused.status).toBe(429);
    expect(refused.body.code).toBe('limit_reached');
    expect(refused.headers.get('retry-after')).not.toBeNull();
    expect(upstream.calls).toHaveLength(3);
    for (const name of ['r1', 'r2', 'r3']) upstream.release(name);
  });

  it('tells calls that ended during the turn as one message, oldest first, when it ends', async () => {
    await engine.startTurn('turn-1');
    await engine.startTurn('turn-2');
    const first = await engine.callInBackground('gate', { name: 'one' });
    const second = await engine.callInBackground('gate', { name: 'two' });
    upstream.release('two');
    await engine.get(second.id, 10);
    upstream.release('one');
    await engine.get(first.id, 10);
    expect(await engine.messages()).toEqual([]);
    await engine.endTurn('turn-1');
    expect(await engine.messages()).toEqual([]);
    await engine.endTurn('turn-2');
    const messages = await engine.messages(10);
    expect(messages).toHaveLength(1);
    const told = messages[0].notifications.map(({ callId }: { callId: string }) => callId);
    expect(told).toEqual([second.id, first.id]);
  });

  it('fails a call whose tool answers isError and keeps the content', async () => {
    const { id } = await engine.callInBackground('fail', { message: 'no disk' });
    const ended = await engine.get(id, 10);
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'tool_error' } });
    const [message] = await engine.receive([id]);
    expect(message.text).toContain('【后台调用失败】');
    expect(message.text).toContain('no disk');
    const result = await service.agent.get(`/v1/background-calls/${id}/result`);
    expect(result.body).toEqual({ content: [{ type: 'text', text: 'no disk' }], isError: true });
  });

  it('speaks English when the settings say so', async () => {
    await service.settings({ messages: { locale: 'en' } });
    const answer = await engine.call('echo', {}, { background: { mode: 'always' } });
    const [message] = await engine.receive([answer.body.call.id]);
    await service.settings({ messages: { locale: 'zh-CN' } });
    expect(answer.body.result.content[0].text).toContain('Moved to the background');
    expect(message.text).toContain('[Background call completed] test · echo');
  });

  it('ends a call whose upstream ignores cancellation at its deadline', async () => {
    const maxHours = 1.5 / 3_600;
    const answer = await engine.call(
      'stubborn',
      { ms: 8_000 },
      { background: { mode: 'always', maxHours } },
    );
    const ended = await engine.get(answer.body.call.id, 10);
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'timeout' } });
    expect(Date.parse(ended.endedAt) - Date.parse(ended.deadlineAt)).toBeLessThan(1_000);
    expect(ended.error.message).toContain('1.5 s');
    expect(await engine.receive([answer.body.call.id])).toHaveLength(1);
  });
});
