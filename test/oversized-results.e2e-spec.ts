import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Engine } from './support/engine.js';
import { LongAnswers } from './support/long-answers.js';
import { McpTestServer } from './support/mcp-server.js';
import { TestService } from './support/service.js';
import { SseTestServer } from './support/sse-server.js';
import { StdioUpstream } from './support/stdio-upstream.js';
import { TestTasks } from './support/test-tasks.js';

const MAX_BYTES = 1_000_000;
const LONG = 3_000_000;
const TOO_LONG = expect.stringMatching(
  /larger than results\.maxBytes .* stopped after \d{7} bytes/,
);

/** How the answer travels: the server, the tool and its arguments. */
const WAYS: [string, string, string, object][] = [
  ['as one body of HTTP', 'http', 'long', { as: 'json', bytes: LONG }],
  ['as an event of HTTP', 'http', 'long', { as: 'events', bytes: LONG }],
  ['on a stream that was resumed', 'http', 'long', { as: 'resumed', bytes: LONG }],
  ['over HTTP with SSE', 'sse', 'long', { bytes: LONG }],
  ['over stdio, its id first', 'stdio', 'long', { bytes: LONG }],
  ['over stdio, its id last', 'stdio', 'big', { bytes: LONG }],
  ['over stdio in a line without an end', 'own-stdio', 'long', { bytes: LONG, end: false }],
];

describe('a result that is longer than what is kept', () => {
  const tasks = new TestTasks();
  const answers = new LongAnswers();
  let http: McpTestServer;
  let sse: SseTestServer;
  let program: StdioUpstream;
  let service: TestService;

  beforeAll(async () => {
    http = await McpTestServer.start({ intercept: answers.intercept, tasks });
    sse = await SseTestServer.start({
      intercept: (_request, response, body) => {
        if (!body.includes('"name":"long"')) return false;
        response.writeHead(202).end();
        const { id } = JSON.parse(body) as { id: number };
        const result = { content: [{ type: 'text', text: 'x'.repeat(LONG) }] };
        sse.write(`data: ${JSON.stringify({ result, jsonrpc: '2.0', id })}\n\n`);
        return true;
      },
    });
    program = new StdioUpstream();
    service = await TestService.start({ env: { BGC_STDIO_COMMANDS: process.execPath } });
    await service.register('http', http.url);
    const { command, args } = program.server();
    for (const server of [
      { name: 'sse', transport: 'sse', url: sse.url },
      { name: 'stdio', transport: 'stdio', command, args },
      { name: 'own-stdio', transport: 'stdio', command, args, sharing: 'call' },
    ])
      expect((await service.admin.post('/admin/v1/mcp-servers', server)).status).toBe(201);
    await service.settings({ results: { maxBytes: MAX_BYTES } });
  });

  afterAll(async () => {
    await service.stop();
    await Promise.all([http.stop(), sse.stop()]);
    program.kill();
    program.remove();
  });

  /** The beginning of a text of nothing but this is readable, as a whole, as a part, and in the message. */
  async function expectKept(engine: Engine, id: string): Promise<void> {
    const call = await engine.get(id, 15);
    expect(call).toMatchObject({
      status: 'failed',
      error: { code: 'output_limit', message: TOO_LONG },
      outcomeUnknown: false,
      result: { preview: 'x'.repeat(8_000), truncated: true, isError: false },
    });
    expect(call.result.bytes).toBeGreaterThan(MAX_BYTES);
    const kept = await service.agent.get(`/v1/background-calls/${id}/result`);
    const part = await service.agent.get(`/v1/background-calls/${id}/result?part=0`);
    expect(kept.body.content).toHaveLength(1);
    expect(kept.body.content[0].text === part.text).toBe(true);
    expect(part.text.length).toBeGreaterThan(MAX_BYTES / 5);
    expect(/^x+$/.test(part.text)).toBe(true);
    const [message] = await engine.receive([id]);
    expect(message.notifications[0]).toMatchObject({
      status: 'failed',
      error: { code: 'output_limit' },
      truncated: true,
    });
  }

  it.each(WAYS)(
    'ends its call with its beginning when it comes %s',
    async (_, server, tool, args) => {
      const engine = service.session();
      const { id } = await engine.callInBackground(tool, args, { server });
      await expectKept(engine, id);
    },
  );

  it.each(WAYS)(
    'is refused to a caller that waits when it comes %s',
    async (_, server, tool, args) => {
      const answer = await service.session().call(tool, args, { server });
      expect(answer).toMatchObject({
        status: 502,
        body: { code: 'output_limit', detail: TOO_LONG },
      });
      expect(answer.body).not.toHaveProperty('outcomeUnknown');
    },
  );

  it('ends its call with its beginning when it is the result of a task', async () => {
    const engine = service.session();
    const { id } = await engine.callInBackground('research', {}, { server: 'http' });
    await http.until(() => tasks.begun.length === 1);
    const content = [{ type: 'text' as const, text: 'x'.repeat(LONG) }];
    await tasks.end('completed', { content });
    await expectKept(engine, id);
  });

  it('stops the upstream, which is told so', async () => {
    http.forgetCalls();
    answers.written.length = 0;
    const args = { as: 'events', bytes: 1_000 * MAX_BYTES };
    await service.session().call('long', args, { server: 'http' });
    await http.until(() => answers.written.length === 1 && http.cancelled.length === 1);
    expect(answers.written[0]).toBeLessThan(30 * MAX_BYTES);
    expect(http.cancelled[0]?.reason).toEqual(TOO_LONG);
    expect(http.openStreams('tools/call')).toBe(0);
  });

  it.each(['long', 'big'])('ends no other call of its connection (%s)', async (tool) => {
    const engine = service.session();
    const file = join(program.folder, `after-${tool}`);
    const other = engine.call('until', { file }, { server: 'stdio' });
    const before = program.starts.length;
    const { id } = await engine.callInBackground(tool, { bytes: LONG }, { server: 'stdio' });
    expect(await engine.get(id, 15)).toMatchObject({ error: { code: 'output_limit' } });
    writeFileSync(file, '');
    expect((await other).body).toMatchObject({ outcome: 'completed' });
    expect(program.starts).toHaveLength(before);
  });
});
