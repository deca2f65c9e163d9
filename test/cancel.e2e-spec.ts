import { describe, expect, it } from '@jest/globals';
import type { Engine } from './support/engine.js';
import type { McpTestServer } from './support/mcp-server.js';
import { SETUPS, type ServiceUnderTest, useServiceOf } from './support/service-fixture.js';

describe.each(SETUPS)('cancelling a background call of %s', (_, start) => {
  let upstream: McpTestServer;
  let service: ServiceUnderTest;
  let engine: Engine;
  useServiceOf(start, (fresh) => ({ upstream, service, engine } = fresh));

  it('tells the upstream, ends the call as cancelled and says so in the message', async () => {
    const { id } = await engine.callInBackground('gate', { name: 'x' });
    await upstream.untilCalled(1);
    const answer = await engine.cancel(id);
    expect(answer.status).toBe(202);
    expect(answer.body).toMatchObject({ id, status: 'running' });
    expect(answer.body.cancelRequestedAt).not.toBeNull();
    expect(await engine.get(id, 10)).toMatchObject({ status: 'cancelled', error: null });
    expect(upstream.cancelled).toHaveLength(1);
    expect(upstream.aborted).toEqual(['gate']);
    const [message] = await engine.receive([id]);
    expect(message.text).toContain('【后台调用已取消】');
  });

  it('ignores a result that arrives after the cancel was asked for', async () => {
    const { id } = await engine.callInBackground('stubborn', { ms: 400 });
    await upstream.untilCalled(1);
    expect((await engine.cancel(id)).status).toBe(202);
    expect(await engine.get(id, 10)).toMatchObject({ status: 'cancelled', result: null });
    const messages = await engine.receive([id]);
    expect(messages).toHaveLength(1);
    expect(await engine.messages()).toEqual([]);
  });

  it('answers the cancel of an ended call with the unchanged call, and tells nothing again', async () => {
    const { id } = await engine.callInBackground('echo');
    const ended = await engine.get(id, 10);
    await engine.receive([id]);
    const before = await engine.get(id);
    const answer = await engine.cancel(id);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(before);
    expect(ended.status).toBe('completed');
    expect(await engine.messages()).toEqual([]);
  });

  it('takes a second cancel as the first one', async () => {
    const { id } = await engine.callInBackground('stubborn', { ms: 5_000 });
    await upstream.untilCalled(1);
    const first = await engine.cancel(id);
    const second = await engine.cancel(id);
    expect(second.body.cancelRequestedAt).toBe(first.body.cancelRequestedAt);
    expect(await engine.get(id, 10)).toMatchObject({ status: 'cancelled' });
  });

  it('cancels the right one of several calls', async () => {
    const a = await engine.callInBackground('gate', { name: 'a' });
    const b = await engine.callInBackground('gate', { name: 'b' });
    const c = await engine.callInBackground('gate', { name: 'c' });
    await upstream.untilCalled(3);
    await engine.cancel(b.id);
    await engine.get(b.id, 10);
    upstream.release('a');
    upstream.release('c');
    expect(await engine.get(a.id, 10)).toMatchObject({ status: 'completed' });
    expect(await engine.get(c.id, 10)).toMatchObject({ status: 'completed' });
    expect(upstream.aborted).toEqual(['gate']);
  });

  it('lets an administrator cancel, see and list the calls of every app', async () => {
    const { id } = await engine.callInBackground('gate', { name: 'admin' });
    await upstream.untilCalled(1);
    const path = `/admin/v1/background-calls/${id}`;
    expect((await service.admin.get(path)).body).toMatchObject({ id, status: 'running' });
    const list = await service.admin.get('/admin/v1/background-calls?status=running&tool=gate');
    expect(list.body.data.map((call: { id: string }) => call.id)).toEqual([id]);
    expect((await service.admin.post(`${path}/cancel`)).status).toBe(202);
    expect(await engine.get(id, 10)).toMatchObject({ status: 'cancelled' });
    expect((await service.admin.post(`${path}/cancel`)).status).toBe(200);
  });
});
