import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import type { McpServer } from '../src/upstreams/mcp-server.js';
import type { UpstreamCall, UpstreamProgress } from '../src/upstreams/upstream-call.js';
import type { UpstreamPool } from '../src/upstreams/upstream-pool.js';
import { type LongArguments, LongAnswers } from './support/long-answers.js';
import { McpTestServer } from './support/mcp-server.js';
import { SseTestServer } from './support/sse-server.js';
import { StdioUpstream } from './support/stdio-upstream.js';
import { aListener, aToolRequest } from './support/upstream-call.js';
import { aPool, aServer, LOOPBACK } from './support/upstream-pool.js';

const LOST = { kind: 'error', code: 'upstream_lost', outcomeUnknown: true };
const EVENTS = { 'content-type': 'text/event-stream' };
const JSON_BODY = { 'content-type': 'application/json' };

let outbound: OutboundHttp;
let pool: UpstreamPool;
let progress: UpstreamProgress[];

beforeEach(() => {
  outbound = new OutboundHttp(LOOPBACK);
  pool = aPool(outbound);
  progress = [];
});
afterEach(async () => {
  await pool.onApplicationShutdown();
  await outbound.onApplicationShutdown();
});

function ask(
  server: McpServer,
  tool: string,
  args: object = {},
  maxResultBytes = 52_428_800,
): UpstreamCall {
  const request = { ...aToolRequest(tool, { ...args }), maxResultBytes };
  return pool.call(server, request, aListener({ onProgress: (one) => progress.push(one) }));
}

async function textOf(call: UpstreamCall): Promise<string> {
  const outcome = await call.outcome;
  if (outcome.kind !== 'result') throw new Error(outcome.message);
  return (outcome.result.content as { text: string }[])[0]!.text;
}

describe('An answer over HTTP', () => {
  let upstream: McpTestServer | undefined;
  afterEach(async () => {
    await pool.onApplicationShutdown();
    await upstream?.stop();
  });

  /** Answers each call with this; `ID` in it is the id of the request. */
  async function answering(headers: object, ...parts: string[]): Promise<McpServer> {
    upstream = await McpTestServer.start({
      intercept: (_request, response, body) => {
        if (!body.includes('"tools/call"')) return false;
        const { id } = JSON.parse(body) as { id: number };
        response.writeHead(200, { ...headers });
        for (const part of parts) response.write(part.replaceAll('ID', String(id)));
        if (headers === JSON_BODY) response.end();
        return true;
      },
    });
    return aServer({ url: upstream.url });
  }

  it.each(['json', 'events'] as const)(
    'of 50 MB comes whole when that is allowed (%s)',
    async (as) => {
      const args: LongArguments = { as, bytes: 50_000_000, unit: 'é' };
      upstream = await McpTestServer.start({ intercept: new LongAnswers().intercept });
      const text = await textOf(ask(aServer({ url: upstream.url }), 'long', args, 60_000_000));
      expect(text.length).toBe(25_000_000);
      expect(text.replaceAll('é', '')).toBe('');
    },
  );

  it('may be preceded by any number of events that are small', async () => {
    const params = `{"progressToken":ID,"progress":1,"message":"${'x'.repeat(10_000)}"}`;
    const event = `data: {"jsonrpc":"2.0","method":"notifications/progress","params":${params}}\n\n`;
    const answer = 'data: {"jsonrpc":"2.0","id":ID,"result":{"content":[{"text":"end"}]}}\n\n';
    const server = await answering(EVENTS, ...Array<string>(50).fill(event), answer);
    expect(await textOf(ask(server, 'any', {}, 1_000))).toBe('end');
    expect(progress.length).toBeGreaterThan(0);
  });

  const BATCH =
    '[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}},' +
    '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"text":"in a batch"}]}}]';
  it.each([
    ['a body', JSON_BODY, BATCH],
    ['an event', EVENTS, `data: ${BATCH}\n\n`],
    ['an event of several lines', EVENTS, `data:  [\r\ndata:${BATCH.slice(1)}\r\n\r\n`],
  ])('may be a batch, in %s', async (_, headers, body) => {
    expect(await textOf(ask(await answering(headers, body), 'any'))).toBe('in a batch');
  });

  it.each([
    ['a body', JSON_BODY, '[{"jsonrpc":"2.0","id":"other","result":{}}]', 'without an answer'],
    ['a body that is empty', JSON_BODY, '[]', 'without an answer'],
    ['a body that is none', JSON_BODY, '[{"jsonrpc":"2.0","id":ID,"result":7}]', 'not MCP'],
  ])('in a batch that does not hold it fails its call, in %s', async (_, headers, body, why) => {
    const outcome = await ask(await answering(headers, body), 'any').outcome;
    expect(outcome).toMatchObject({ kind: 'error', message: expect.stringContaining(why) });
  });

  it('that tells of a failure is read no further than needed', async () => {
    upstream = await McpTestServer.start({
      intercept: (_request, response, body) => {
        if (!body.includes('"tools/call"')) return false;
        response.writeHead(500).write('It is full. '.repeat(20_000));
        return true;
      },
    });
    expect(await ask(aServer({ url: upstream.url }), 'any').outcome).toMatchObject({
      ...LOST,
      message: expect.stringMatching(/HTTP 500: It is full\./),
    });
  });

  it('that tells of a failure and then stalls is waited for no longer', async () => {
    upstream = await McpTestServer.start({
      intercept: (_request, response, body) => {
        if (!body.includes('"tools/call"')) return false;
        response.writeHead(500).write('half of it');
        return true;
      },
    });
    const { outcome } = ask(aServer({ url: upstream.url }), 'any');
    expect(await outcome).toMatchObject({
      ...LOST,
      message: expect.stringContaining('HTTP 500: half of it'),
    });
  });

  it('of any other kind has a limit of its own: the tool list', async () => {
    upstream = await McpTestServer.start({
      toolPages: [[{ name: 'x', description: 'd'.repeat(17_000_000) }]],
    });
    await expect(pool.listTools(aServer({ url: upstream.url }))).rejects.toMatchObject({
      code: 'upstream_error',
      message: 'The answer to tools/list is too long.',
    });
  });
});

describe('An answer on a connection that calls share', () => {
  let program: StdioUpstream;
  beforeEach(() => {
    program = new StdioUpstream();
  });
  afterEach(async () => {
    await pool.onApplicationShutdown();
    await program.untilGone();
    program.remove();
  });

  it('of 12 MB comes whole over stdio, beside another call', async () => {
    const file = join(program.folder, 'go');
    const other = ask(program.server(), 'until', { file });
    expect(await textOf(ask(program.server(), 'big', { bytes: 12_000_000 }))).toHaveLength(
      12_000_000,
    );
    writeFileSync(file, '');
    expect(await textOf(other)).toBe('the file is there');
    expect(program.starts).toHaveLength(1);
  });

  it.each([
    ['is a batch', '[{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"'],
    ['is no answer', '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"'],
  ])('breaks it when it is too long and %s: nobody knows whose it is', async (_, head) => {
    const other = ask(program.server(), 'never', {}, 1_000);
    const line = head + 'x'.repeat(100_000);
    const broken = { ...LOST, message: expect.stringContaining('does not say what it answers') };
    expect(await ask(program.server(), 'raw', { line }, 1_000).outcome).toMatchObject(broken);
    expect(await other.outcome).toMatchObject(broken);
  });

  it.each([
    ['first', '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"ab', '"}]}}'],
    ['last', '{"result":{"content":[{"type":"text","text":"ab', '"}]},"jsonrpc":"2.0","id":ID}'],
  ])('that is too long ends its own call with its beginning, its id %s', async (_, head, tail) => {
    const line = head + 'c'.repeat(100_000) + tail;
    const { kept, ...outcome } = (await ask(program.server(), 'raw', { line }, 1_000)
      .outcome) as any;
    expect(outcome).toMatchObject({ kind: 'oversized', bytes: expect.any(Number) });
    expect(kept().content).toEqual([
      { type: 'text', text: expect.stringMatching(/^abc{10000,}$/) },
    ]);
    expect(await textOf(ask(program.server(), 'echo'))).toBe('{}');
    expect(program.starts).toHaveLength(1);
  });

  it('may be a batch over stdio', async () => {
    const line = '[{"jsonrpc":"2.0","id":ID,"result":{"content":[{"text":"in a batch"}]}}]';
    expect(await textOf(ask(program.server(), 'raw', { line }))).toBe('in a batch');
  });

  it('may be a batch over HTTP with SSE', async () => {
    const upstream = await SseTestServer.start({
      intercept: (_request, response, body) => {
        if (!body.includes('"tools/call"')) return false;
        const { id } = JSON.parse(body) as { id: number };
        const result = { content: [{ text: 'in a batch' }] };
        response.writeHead(202).end();
        upstream.write(`data: ${JSON.stringify([{ jsonrpc: '2.0', id, result }])}\n\n`);
        return true;
      },
    });
    const server = aServer({ url: upstream.url, transport: 'sse' });
    expect(await textOf(ask(server, 'any'))).toBe('in a batch');
    await pool.onApplicationShutdown();
    await upstream.stop();
  });
});
