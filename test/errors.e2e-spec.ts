import { beforeAll, describe, expect, it } from '@jest/globals';
import { anotherApp } from './support/another-app.js';
import { Api } from './support/api.js';
import type { Engine } from './support/engine.js';
import { KEYS } from './support/keys.js';
import { type TestService } from './support/service.js';
import { useService } from './support/service-fixture.js';

describe('what a wrong request gets', () => {
  let service: TestService;
  let engine: Engine;
  useService((fresh) => ({ service, engine } = fresh));

  beforeAll(() => service.register('down', 'http://127.0.0.1:9/mcp'));

  it('gives 401 without a key and with a wrong one, and 403 with a key of another audience', async () => {
    const path = '/v1/sessions/s-1/background-calls';
    for (const key of [undefined, 'wrong', `${KEYS.BGC_AGENT_KEY}x`]) {
      const answer = await new Api(service.url, key).get(path);
      expect(answer).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    for (const key of [KEYS.BGC_ADMIN_KEY, KEYS.BGC_BOT_KEY])
      expect((await new Api(service.url, key).get(path)).status).toBe(403);
    expect((await service.agent.get('/admin/v1/settings')).status).toBe(403);
  });

  it('gives one and the same 404 for unknown, malformed and foreign ids', async () => {
    const { id } = await engine.callInBackground('echo');
    const { agent: foreign } = await anotherApp(service);
    const unknown = 'bgc_01m8q70cjvf6fa9fk2rwgkr9q0';
    const requests: [Api, string][] = [
      [service.agent, unknown],
      [service.agent, 'bgc_x'],
      [service.agent, id.replace('bgc_', 'msg_')],
      [service.agent, `${id}0`],
      [service.agent, '%00'],
      [foreign, id],
    ];
    const bodies = new Set<string>();
    for (const [api, callId] of requests)
      for (const verb of ['', '/result', '/cancel']) {
        const path = `/v1/background-calls/${callId}${verb}`;
        const answer = verb === '/cancel' ? await api.post(path) : await api.get(path);
        expect(answer.status).toBe(404);
        const { requestId, instance, ...same } = answer.body;
        expect([typeof requestId, typeof instance]).toEqual(['string', 'string']);
        bodies.add(JSON.stringify(same));
      }
    expect(bodies.size).toBe(1);
    expect(await engine.get(id, 5)).toMatchObject({ status: 'completed' });
  });

  it('names the wrong field of a body and what is allowed', async () => {
    const cases: [object | string, string][] = [
      [{ tool: 'echo' }, '/server'],
      [{ server: 'test' }, '/tool'],
      [{ server: 'test', tool: '' }, '/tool'],
      [{ server: 'test', tool: 'a\0b' }, '/tool'],
      [{ server: 'test', tool: 'echo', arguments: [] }, '/arguments'],
      [{ server: 'test', tool: 'echo', arguments: 'x' }, '/arguments'],
      [{ server: 'test', tool: 'echo', turnId: '..' }, '/turnId'],
      [{ server: 'test', tool: 'echo', turnId: 'a b' }, '/turnId'],
      [{ server: 'test', tool: 'echo', wait: 3 }, '/wait'],
      [{ server: 'test', tool: 'echo', background: { mode: 'sometimes' } }, '/background/mode'],
      [{ server: 'test', tool: 'echo', background: { autoAfter: 3 } }, '/background/autoAfter'],
      ...[0, -1, '3', 596 * 3_600 + 1, 1e12, null].map((autoAfterSec): [object, string] => [
        { server: 'test', tool: 'echo', background: { autoAfterSec } },
        '/background/autoAfterSec',
      ]),
      ...[0, -1, '3', 597, 1e12].map((maxHours): [object, string] => [
        { server: 'test', tool: 'echo', background: { maxHours } },
        '/background/maxHours',
      ]),
      [{ server: 'test', tool: 'echo', background: 7 }, '/background'],
    ];
    for (const [body, pointer] of cases) {
      const answer = await service.agent.post('/v1/sessions/s-1/tool-calls', body);
      expect({ body, status: answer.status }).toEqual({ body, status: 400 });
      expect(answer.body.code).toBe('invalid_request');
      expect(answer.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(
        pointer,
      );
    }
  });

  it('takes the longest durations exactly', async () => {
    const background = { autoAfterSec: 596 * 3_600, maxHours: 596 };
    expect((await engine.call('slow', { ms: 300 }, { background })).status).toBe(200);
  });

  it('refuses malformed JSON, a body that is no object, 5,000 levels and too many bytes', async () => {
    const path = '/v1/sessions/s-1/tool-calls';
    const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`;
    for (const body of [
      '{',
      '[]',
      '7',
      'null',
      '""',
      `{"server":"test","tool":"echo","arguments":${deep}}`,
    ])
      expect(await service.agent.post(path, body)).toMatchObject({
        status: 400,
        body: { code: 'invalid_request' },
      });
    const large = { server: 'test', tool: 'echo', arguments: { text: 'x'.repeat(262_144) } };
    const answer = await service.agent.post(path, large);
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toMatchObject([{ pointer: '/arguments' }]);
    const huge = { server: 'test', tool: 'echo', arguments: { text: 'x'.repeat(2_000_000) } };
    expect((await service.agent.post(path, huge)).status).toBe(413);
  });

  it('gives 404 for an unknown server and 502 for one that is down', async () => {
    const unknown = await engine.call('echo', {}, { server: 'nobody' });
    expect(unknown).toMatchObject({ status: 404, body: { code: 'server_not_found' } });
    const down = await engine.call('echo', {}, { server: 'down' });
    expect(down).toMatchObject({ status: 502, body: { code: 'upstream_unreachable' } });
    expect(down.body.outcomeUnknown).toBeUndefined();
  });

  it('passes on what the upstream says of an unknown tool', async () => {
    const answer = await engine.call('no-such-tool');
    expect(answer).toMatchObject({ status: 502, body: { code: 'upstream_error' } });
    expect(answer.body.detail).toContain('Unknown tool: no-such-tool');
  });

  it('fails a background call whose upstream is down, and tells it', async () => {
    const { id } = await engine.callInBackground('echo', {}, { server: 'down' });
    expect(await engine.get(id, 10)).toMatchObject({
      status: 'failed',
      error: { code: 'upstream_unreachable' },
      outcomeUnknown: false,
    });
    expect(await engine.receive([id])).toHaveLength(1);
    const result = await service.agent.get(`/v1/background-calls/${id}/result`);
    expect(result).toMatchObject({ status: 409, body: { code: 'no_result' } });
  });

  it('refuses a bad limit, cursor, order or status of a list, and pages through the rest', async () => {
    const list = '/v1/sessions/pages/background-calls';
    for (const query of [
      'limit=0',
      'limit=101',
      'limit=x',
      'after=x',
      'order=up',
      'status=done',
      'x=1',
    ])
      expect((await service.agent.get(`${list}?${query}`)).status).toBe(400);
    const pages = service.session('pages');
    const ids = [];
    for (let n = 0; n < 5; n++) {
      const { id } = await pages.callInBackground('echo', { n });
      await pages.get(id, 10);
      ids.push(id);
    }
    const seen: string[] = [];
    for (let query = '?limit=2&order=asc'; ;) {
      const { body } = await service.agent.get(list + query);
      seen.push(...body.data.map((call: { id: string }) => call.id));
      if (!body.hasMore) break;
      query = `?limit=2&order=asc&after=${body.nextCursor}`;
    }
    expect(seen).toEqual(ids);
    const filtered = await service.agent.get(`${list}?status=completed,failed&server=test`);
    expect(filtered.body.data).toHaveLength(5);
    expect(filtered.body.data[0]).not.toHaveProperty('arguments');
    expect((await service.agent.get(`${list}?status=running`)).body.data).toEqual([]);
  });
});
