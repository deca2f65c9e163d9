import { describe, expect, it } from '@jest/globals';
import type { Engine } from './support/engine.js';
import type { McpTestServer } from './support/mcp-server.js';
import type { TestService } from './support/service.js';
import { useService } from './support/service-fixture.js';

/** Texts that PostgreSQL, JSON or UTF-8 have trouble with. */
const ODD_TEXTS: [string, string][] = [
  ['NUL', 'before\0after'],
  ['a lone surrogate', 'before\ud800after'],
  ['emoji', '👩‍👩‍👧‍👦 é 漢字'],
  ['1 MB', 'x'.repeat(1_048_576)],
];

describe('odd values', () => {
  let upstream: McpTestServer;
  let service: TestService;
  let engine: Engine;
  useService((fresh) => ({ upstream, service, engine } = fresh));

  it.each(ODD_TEXTS)('ends a call whose result holds %s, and loses nothing', async (_, text) => {
    const { id } = await engine.callInBackground('gate', { name: 'odd' });
    const result = { content: [{ type: 'text', text }], _meta: { text: text.slice(0, 20) } };
    upstream.release('odd', result);
    expect(await engine.get(id, 15)).toMatchObject({ status: 'completed' });
    const whole = await service.agent.get(`/v1/background-calls/${id}/result`);
    expect(whole.body).toEqual(result);
    const [message] = await engine.receive([id]);
    expect(message.notifications[0].truncated).toBe(text.length > 8_000);
    const foreground = engine.call('gate', { name: 'odd-2' });
    upstream.release('odd-2', result);
    expect((await foreground).body.result).toEqual(result);
  });

  it.each([
    ['POST', '/v1/sessions/x/tool-calls', '{"server":{"constructor":1},"tool":"x"}', '/server'],
    ['POST', '/v1/sessions/x/turns', '{"turnId":{"constructor":1}}', '/turnId'],
    ['POST', '/v1/sessions/x/turns', '{"turnId":{"a":[{"__proto__":1}]}}', '/turnId/a/0'],
  ])('refuses a field that no class can have: %s %s %s', async (_, path, body, parent) => {
    const name = /constructor|__proto__/.exec(body)?.[0];
    expect(await service.agent.post(path, body)).toMatchObject({
      status: 400,
      body: {
        errors: [{ pointer: `${parent}/${name}`, detail: 'is not a known field' }],
      },
    });
  });

  it.each([
    ['patch', '/admin/v1/settings', '{"backgroundCalls":{"maxRunning":{"constructor":1}}}'],
    [
      'post',
      '/admin/v1/mcp-servers',
      '{"name":"x","url":"http://x/","headers":{"constructor":"x"}}',
    ],
  ] as const)('refuses the same of administrators: %s %s %s', async (method, path, body) => {
    expect(await service.admin[method](path, body)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    });
  });

  it.each(['never', 'always'])(
    'passes the trace context on in the request and in its header, mode %s',
    async (mode) => {
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
      const before = { calls: upstream.calls.length, headers: upstream.headers.length };
      const request = { headers: { traceparent } };
      const answer = await engine.call('echo', { n: 1 }, { background: { mode } }, request);
      await upstream.untilCalled(before.calls + 1);
      const sent = JSON.parse(upstream.calls.at(-1)?.body ?? '{}');
      expect(sent.params).toMatchObject({ arguments: { n: 1 }, _meta: { traceparent } });
      const headers = upstream.headers.slice(before.headers);
      expect(headers.filter((one) => one['traceparent'] === traceparent)).toHaveLength(1);
      expect(headers.some((one) => one.authorization !== undefined)).toBe(false);
      if (mode === 'always') await engine.receive([answer.body.call.id]);
    },
  );

  it.each([
    ['/v1/background-calls/bgc_01jdfjw000e00800000000005a/cancel', '{"reason":"x"}', '/reason'],
    ['/v1/sessions/x/turns/t/touch', '{"turnId":"t"}', '/turnId'],
    ['/v1/sessions/x/turns/t/touch', '[]', ''],
    ['/v1/sessions/x/turns/t/touch', '"a"', ''],
    ['/v1/sessions/x/turns/t/touch', 'null', ''],
  ])('refuses a body where none is read: %s %s', async (path, body, pointer) => {
    expect(await service.agent.post(path, body)).toMatchObject({
      status: 400,
      body: { errors: [{ pointer }] },
    });
  });

  it.each(['', '0x1', 'NaN', '61', '-1', '1e1'])('gives one reason for wait=%s', async (wait) => {
    const answer = await service.agent.get(`/v1/sessions/x/messages?wait=${wait}`);
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '?wait', detail: 'must be a number from 0 to 60' }] },
    });
  });

  it('passes arguments on unchanged, whatever their keys are called', async () => {
    const args =
      '{"constructor":{"name":1},"__proto__":{"admin":true},"toString":"x","a":{"__proto__":null,' +
      '"hasOwnProperty":[]},"nul":"\\u0000","lone":"\\ud800","number":1e-7}';
    for (const mode of ['never', 'always']) {
      const before = upstream.calls.length;
      const body = `{"server":"test","tool":"echo","background":{"mode":"${mode}"},"arguments":${args}}`;
      const answer = await service.agent.post(`/v1/sessions/${engine.sessionId}/tool-calls`, body);
      expect(answer.status).toBe(mode === 'never' ? 200 : 202);
      await upstream.untilCalled(before + 1);
      const sent = upstream.calls.at(-1)?.body ?? '';
      expect(sent).toContain(`"arguments":${args}`);
      if (mode === 'always') {
        const call = await service.agent.get(`/v1/background-calls/${answer.body.call.id}`);
        expect(call.text).toContain(`"arguments":${args}`);
        await engine.receive([answer.body.call.id]);
      }
    }
  });
});
