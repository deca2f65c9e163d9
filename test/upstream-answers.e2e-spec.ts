import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { McpTestServer } from './support/mcp-server.js';
import { TestService } from './support/service.js';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const TEXT = '{"content":[{"type":"text","text":"fine"}]}';

/** What the upstream answers, as messages in JSON. */
type Answers = (id: string) => string[];

const result = (text: string): Answers => {
  return (id) => [`{"jsonrpc":"2.0","id":${id},"result":${text}}`];
};

describe('answers of an upstream that is broken or means harm', () => {
  let answers: Answers;
  let upstream: McpTestServer;
  let service: TestService;

  beforeAll(async () => {
    upstream = await McpTestServer.start({
      intercept: (_, response, body) => {
        const message = body === '' ? {} : (JSON.parse(body) as { id?: unknown; method?: string });
        if (message.method !== 'tools/call') return false;
        stream(response, answers(JSON.stringify(message.id)));
        return true;
      },
    });
    service = await TestService.start();
    await service.register('test', upstream.url);
  });

  afterAll(async () => {
    await service.stop();
    await upstream.stop();
  });

  it.each([
    ['5,000 levels of lists', `{"content":[],"structuredContent":{"a":${nested(5_000)}}}`],
    ['100,000 levels of lists', `{"content":${nested(100_000)}}`],
    ['100,000 levels in what is not read', `{"content":[],"_meta":{"x":${nested(100_000)}}}`],
  ])('fails a call whose result has %s, and goes on', async (_, text) => {
    answers = result(text);
    const engine = service.session();
    const { id } = await engine.callInBackground('any');
    expect(await engine.get(id, 10)).toMatchObject({
      status: 'failed',
      error: { code: 'upstream_error' },
      outcomeUnknown: true,
    });
    expect((await engine.receive([id]))[0].notifications).toHaveLength(1);
    const foreground = await engine.call('any');
    expect(foreground).toMatchObject({ status: 502, body: { code: 'upstream_error' } });
  });

  it.each([
    ['no content', '{}'],
    ['null for content', '{"content":null}'],
    ['parts that are none', '{"content":[null,5,"x",[],{}],"isError":"no"}'],
    ['an object for content', '{"content":{"length":3},"structuredContent":null}'],
    ['parts of wrong types', '{"content":[{"type":7,"text":{},"data":null,"uri":[]}]}'],
    ['900 levels', `{"content":[],"structuredContent":{"a":${nested(900)}}}`],
  ])('keeps a result with %s as it is', async (_, text) => {
    answers = result(text);
    const engine = service.session();
    expect((await engine.call('any')).body.result).toEqual(JSON.parse(text));
    const { id } = await engine.callInBackground('any');
    expect(await engine.get(id, 10)).toMatchObject({ status: 'completed' });
    const kept = await service.agent.get(`/v1/background-calls/${id}/result`);
    expect(kept.body).toEqual(JSON.parse(text));
    expect(await engine.receive([id])).toHaveLength(1);
  });

  it('takes the first of two answers, and none that belongs to no call', async () => {
    answers = (id) => [
      ...result('{"content":[]}')('"unknown"'),
      ...result(TEXT)(id),
      ...result('{"content":[{"type":"text","text":"second"}]}')(id),
    ];
    const engine = service.session();
    expect((await engine.call('any')).body.result).toEqual(JSON.parse(TEXT));
    const { id } = await engine.callInBackground('any');
    expect(await engine.get(id, 10)).toMatchObject({ result: { preview: 'fine' } });
    expect((await engine.receive([id]))[0].notifications).toHaveLength(1);
  });

  it('fails a call that is answered with an error of odd members', async () => {
    answers = (id) => [
      `{"jsonrpc":"2.0","id":${id},"error":{"code":-32000,"message":"a\\u0000b\\ud800","data":${nested(50_000)}}}`,
    ];
    const engine = service.session();
    const { id } = await engine.callInBackground('any');
    expect(await engine.get(id, 10)).toMatchObject({ error: { code: 'upstream_error' } });
    expect(await engine.receive([id])).toHaveLength(1);
    expect((await engine.call('any')).status).toBe(502);
  });

  it('shows progress of huge numbers without breaking the call', async () => {
    answers = (id) => [
      ...['1e999', '-1e308', '0.1'].map(
        (progress) =>
          `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${id},"progress":${progress},"message":"\\u0000"}}`,
      ),
      ...result(TEXT)(id),
    ];
    const engine = service.session();
    const { id } = await engine.callInBackground('any');
    const call = await engine.get(id, 10);
    expect(call).toMatchObject({ status: 'completed' });
    expect(typeof (call.progress?.progress ?? 0)).toBe('number');
  });
});

function stream(response: ServerResponse, messages: string[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const message of messages) response.write(`event: message\ndata: ${message}\n\n`);
  response.end();
}
