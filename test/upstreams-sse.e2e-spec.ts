import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import type { HttpMcpServer } from '../src/upstreams/mcp-server.js';
import { SdkConnector } from '../src/upstreams/sdk/sdk-connector.js';
import type {
  UpstreamCall,
  UpstreamOutcome,
  UpstreamProgress,
} from '../src/upstreams/upstream-call.js';
import type { UpstreamPool } from '../src/upstreams/upstream-pool.js';
import { eventually } from './support/eventually.js';
import { textResult } from './support/mcp-tools.js';
import { type SseServerOptions, SseTestServer } from './support/sse-server.js';
import { aListener, aToolRequest } from './support/upstream-call.js';
import {
  aConnector,
  aPool,
  aServer,
  CONFIGURATION,
  LOOPBACK,
  PROGRAMS,
  settingsOf,
} from './support/upstream-pool.js';

const LOST = { kind: 'error', code: 'upstream_lost', outcomeUnknown: true };
const REFUSED = { kind: 'error', code: 'outbound_refused', outcomeUnknown: false };
const UNREACHABLE = { kind: 'error', code: 'upstream_unreachable', outcomeUnknown: false };

class HastyConnector extends SdkConnector {
  protected override readonly connectMs = 300;
}

const settings = settingsOf();
let http: OutboundHttp;
let pool: UpstreamPool;
let upstream: SseTestServer;
let server: HttpMcpServer;
let progress: UpstreamProgress[];

async function start(options: SseServerOptions = {}): Promise<void> {
  upstream = await SseTestServer.start(options);
  server = aServer({ url: upstream.url, transport: 'sse' });
}

beforeEach(() => {
  http = new OutboundHttp(LOOPBACK);
  pool = aPool(http, settings);
  progress = [];
});
afterEach(async () => {
  await pool.onApplicationShutdown();
  await eventually('nothing open', () => upstream.open === 0, 3_000);
  await http.onApplicationShutdown();
  await upstream.stop();
});

const call = (tool: string, args: Record<string, unknown> = {}): UpstreamCall =>
  pool.call(
    server,
    aToolRequest(tool, args),
    aListener({ onProgress: (one) => progress.push(one) }),
  );
const gate = async (name: string): Promise<UpstreamCall> => {
  const before = upstream.received('tools/call').length;
  const waiting = call('gate', { name });
  await upstream.untilReceived('tools/call', before + 1);
  return waiting;
};
/** Answers every POST that holds this text. */
const answering = (text: string, status: number, headers = {}): SseServerOptions => ({
  intercept: (_request, response, body) => {
    if (!body.includes(text)) return false;
    response.writeHead(status, headers).end('no');
    return true;
  },
});

describe('A server over HTTP with SSE', () => {
  it('tells of itself, lists its tools, answers calls and tells their progress', async () => {
    await start();
    server = { ...server, headers: { 'X-Api-Key': 'secret' } };
    const connector = aConnector(http);
    const session = await connector.connect(server, 'shared', new AbortController().signal);
    expect(session.about).toEqual({
      name: 'sse-test',
      version: '3',
      protocolVersion: '2025-11-25',
      instructions: 'Be kind.',
    });
    await session.close({ forget: true });
    await session.closed;
    expect((await pool.listTools(server)).tools.map(({ name }) => name)).toEqual(['echo']);
    expect(await call('echo', { 文: '字 ✓' }).outcome).toMatchObject({
      result: { structuredContent: { 文: '字 ✓' } },
    });
    expect(await call('slow', { ms: 60, steps: 2 }).outcome).toMatchObject({ kind: 'result' });
    expect(progress.at(-1)).toMatchObject({ progress: 2 });
    for (const headers of [...upstream.headers.GET, ...upstream.headers.POST])
      expect(headers).toMatchObject({ 'x-api-key': 'secret' });
    expect(upstream.headers.GET).toHaveLength(2);
  });

  it('connects once for 50 first calls at the same time', async () => {
    await start();
    const calls = Array.from({ length: 50 }, (_, n) => call('echo', { n }).outcome);
    for (const { kind } of await Promise.all(calls)) expect(kind).toBe('result');
    expect(upstream.headers.GET).toHaveLength(1);
  });

  it('may answer a message before it accepts it', async () => {
    await start({ acceptsLate: true });
    expect(await call('slow', { ms: 50, steps: 2 }).outcome).toMatchObject({ kind: 'result' });
    const stuck = await gate('x');
    await stuck.cancel('stop');
    await eventually('only the stream is open', () => upstream.open === 1, 3_000);
  });

  it.each<[string, number, Record<string, string>, string]>([
    ['words', 200, { 'content-type': 'text/plain' }, 'Accepted'],
    ['words that its framework calls a page', 200, { 'content-type': 'text/html' }, 'Accepted'],
    ['JSON', 201, { 'content-type': 'application/json' }, '"ok"'],
    ['nothing', 204, {}, ''],
    ['an empty page', 200, { 'content-type': 'text/html; charset=utf-8' }, ''],
    ['a page, and the status that says so', 202, { 'content-type': 'text/html' }, '<html>'],
  ])('may accept messages by %s (%i)', async (_, status, headers, body) => {
    await start({ accept: (response) => void response.writeHead(status, headers).end(body) });
    expect(await call('slow', { ms: 50, steps: 2 }).outcome).toMatchObject({ kind: 'result' });
  });

  it('may send what is no message, and comments, and events of other names', async () => {
    await start();
    const waiting = await gate('x');
    upstream.write(
      ': still here\r\n\r\nevent: ping\ndata: 1\n\ndata: {\n\ndata\n\nretry: 5\nid: 7\n\n',
    );
    upstream.release('x');
    expect(await waiting.outcome).toEqual({ kind: 'result', result: textResult('gate x') });
  });

  it('fails one call only with an answer that can not be read', async () => {
    await start();
    const bad = await gate('x');
    const good = await gate('y');
    const { id } = upstream.received('tools/call')[0]!;
    upstream.write(`data: {"jsonrpc":"2.0",\ndata: "id":${id},"result":{"score":NaN}}\n\n`);
    expect(await bad.outcome).toMatchObject({ code: 'upstream_error', outcomeUnknown: true });
    upstream.release('y');
    expect(await good.outcome).toMatchObject({ kind: 'result' });
  });
});

describe('A stream', () => {
  it.each(['end', 'destroy'] as const)(
    'that is over (%s) loses every call on it at once, and is opened again for the next one',
    async (how) => {
      await start();
      const calls = [await gate('x'), await gate('y')];
      const started = performance.now();
      upstream.endStreams(how);
      for (const { outcome } of calls)
        expect(await outcome).toMatchObject({
          ...LOST,
          message: expect.stringContaining(
            'The connection to the upstream was lost: the event stream',
          ),
        });
      expect(performance.now() - started).toBeLessThan(1_000);
      expect(upstream.headers.GET).toHaveLength(1);
      expect(await call('echo').outcome).toMatchObject({ kind: 'result' });
      expect(upstream.headers.GET).toHaveLength(2);
      expect(upstream.received('tools/call')).toHaveLength(3);
    },
  );

  it('of a server that was killed and started again is opened again at the first try', async () => {
    await start();
    const lost = await gate('x');
    const { port } = upstream;
    await upstream.stop();
    expect(await lost.outcome).toMatchObject(LOST);
    expect(await call('echo').outcome).toMatchObject(UNREACHABLE);
    await start({ port });
    expect(await call('echo').outcome).toMatchObject({ kind: 'result' });
  });

  it('of a changed configuration goes on for the calls on it', async () => {
    await start();
    const old = await gate('x');
    server = { ...server, headers: { 'x-version': '2' } };
    pool.keepOnly([server]);
    expect(await call('echo').outcome).toMatchObject({ kind: 'result' });
    expect(upstream.headers.GET.map((headers) => headers['x-version'])).toEqual([undefined, '2']);
    expect(upstream.open).toBe(2);
    upstream.release('x');
    expect(await old.outcome).toMatchObject({ kind: 'result' });
    await eventually('old stream closed', () => upstream.open === 1);
  });
});

describe('A message that is refused', () => {
  it.each([
    {
      status: 403,
      expected: { ...UNREACHABLE, message: 'The upstream refused the request: HTTP 403: no' },
    },
    { status: 429, expected: UNREACHABLE },
    { status: 500, expected: { ...LOST, message: 'The upstream failed: HTTP 500: no' } },
    { status: 307, expected: REFUSED },
  ])('with $status fails that call only', async ({ status, expected }) => {
    await start(answering('"refuse me"', status, { location: 'http://127.0.0.1:9/' }));
    const other = await gate('x');
    expect(await call('echo', { text: 'refuse me' }).outcome).toMatchObject(expected);
    upstream.release('x');
    expect(await other.outcome).toMatchObject({ kind: 'result' });
    // As long as a cancellation would have taken.
    await call('echo').outcome;
    await call('echo').outcome;
    expect(upstream.headers.GET).toHaveLength(1);
    expect(upstream.received('notifications/cancelled')).toEqual([]);
  });

  it('by a page for browsers fails at once, whether or not it was taken', async () => {
    const headers = { 'content-type': 'text/html; charset=utf-8' };
    await start({
      intercept: (_request, response, body) => {
        if (!body.includes('refuse me')) return false;
        response.writeHead(200, headers).end('\n<!DOCTYPE html><title>Log in</title>');
        return true;
      },
    });
    const other = await gate('x');
    expect(await call('echo', { text: 'refuse me' }).outcome).toMatchObject({
      ...{ kind: 'error', code: 'upstream_error', outcomeUnknown: true },
      message: 'Unexpected content type: text/html; charset=utf-8',
    });
    upstream.release('x');
    expect(await other.outcome).toMatchObject({ kind: 'result' });
  });

  it('by an answer that stalls fails, too', async () => {
    await start({
      intercept: (_request, response, body) => {
        if (!body.includes('refuse me')) return false;
        response.writeHead(500).write('half of it');
        return true;
      },
    });
    expect(await call('echo', { text: 'refuse me' }).outcome).toMatchObject({
      ...LOST,
      message: 'The upstream failed: HTTP 500: half of it',
    });
  });

  it('because the session was forgotten is sent again in a new one', async () => {
    let forgets = 1;
    await start({
      intercept: (_request, response, body) => {
        if (!body.includes('tools/call') || forgets-- <= 0) return false;
        response.writeHead(404).end('Session not found');
        return true;
      },
    });
    expect(await call('echo').outcome).toMatchObject({ kind: 'result' });
    expect(upstream.headers.GET).toHaveLength(2);
  });
});

describe('Cancelling a call over SSE', () => {
  it('tells the server which one, and ends the call', async () => {
    await start();
    const other = await gate('y');
    const cancelled = await gate('x');
    await cancelled.cancel('not needed any more');
    expect(await cancelled.outcome).toMatchObject(LOST);
    expect(upstream.received('notifications/cancelled').map(({ params }) => params)).toEqual([
      { requestId: upstream.received('tools/call')[1]?.id, reason: 'not needed any more' },
    ]);
    upstream.release('x');
    upstream.release('y');
    expect(await other.outcome).toMatchObject({ kind: 'result' });
  });

  it('waits until the server has accepted the call, but not for long', async () => {
    let accept = (): void => undefined;
    await start({
      intercept: (_request, response, body) => {
        if (!body.includes('"late"')) return false;
        accept = () => response.writeHead(202).end();
        return true;
      },
    });
    const late = call('echo', { text: 'late' });
    await upstream.untilReceived('tools/call', 1);
    const cancelled = late.cancel('stop');
    // As long as the cancellation would have taken.
    await call('echo').outcome;
    await call('echo').outcome;
    expect(upstream.received('notifications/cancelled')).toEqual([]);
    accept();
    await cancelled;
    expect(upstream.received('notifications/cancelled')).toHaveLength(1);

    const never = call('echo', { text: 'late' });
    await upstream.untilReceived('tools/call', 4);
    await never.cancel('stop');
    expect(upstream.received('notifications/cancelled')).toHaveLength(2);
    await eventually('only the stream is open', () => upstream.open === 1, 3_000);
  });
});

describe('A server over SSE that can not be reached', () => {
  const failure = async (options: SseServerOptions): Promise<UpstreamOutcome> => {
    await start(options);
    pool = aPool(http, settings, new HastyConnector(http, CONFIGURATION, PROGRAMS));
    return call('echo').outcome;
  };
  const onGet = (
    answer: (response: Parameters<NonNullable<SseServerOptions['intercept']>>[1]) => unknown,
  ) => ({
    intercept: ((request, response) => {
      if (request.method !== 'GET') return false;
      answer(response);
      return true;
    }) as SseServerOptions['intercept'],
  });

  it.each([
    ['it answers 404', (r: any) => r.writeHead(404).end('nothing here'), 'HTTP 404: nothing here'],
    [
      'it answers a page',
      (r: any) => r.writeHead(200, { 'content-type': 'text/html' }).end('<p>'),
      'no event stream but has the content type text/html',
    ],
    [
      'its stream ends at once',
      (r: any) => r.writeHead(200, { 'content-type': 'text/event-stream' }).end(),
      'the event stream ended',
    ],
    [
      'it never names an address',
      (r: any) => r.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n'),
      'No answer within 300 ms.',
    ],
  ])('because %s: the message says so', async (_, answer, message) => {
    expect(await failure(onGet(answer))).toMatchObject({
      ...UNREACHABLE,
      message: expect.stringContaining(message),
    });
  });

  it('because it answers the first message with a page: the message says so', async () => {
    await start({
      intercept: (request, response) => {
        if (request.method !== 'POST') return false;
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
        return true;
      },
    });
    expect(await call('echo').outcome).toMatchObject({
      ...UNREACHABLE,
      message: "The upstream can't be reached: Unexpected content type: text/html",
    });
  });

  it('because it answers 302: the redirect is not followed', async () => {
    const redirect = onGet((response) => response.writeHead(302, { location: '/x' }).end());
    expect(await failure(redirect)).toMatchObject({
      ...REFUSED,
      message: expect.stringContaining('is not followed'),
    });
  });

  it('because it names an address of another origin, to which nothing is sent', async () => {
    const asked: string[] = [];
    const other = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const endpoint = `event: endpoint\ndata: http://127.0.0.1:${port}/steal\n\n`;
    const stream = { 'content-type': 'text/event-stream' };
    const outcome = await failure(onGet((get) => get.writeHead(200, stream).write(endpoint)));
    other.closeAllConnections();
    await new Promise((resolve) => other.close(resolve));
    expect(outcome).toMatchObject({
      ...UNREACHABLE,
      message: expect.stringContaining('another origin'),
    });
    expect(asked).toEqual([]);
  });

  it('because it accepts the connection and says nothing', async () => {
    expect(await failure(onGet(() => undefined))).toMatchObject({
      ...UNREACHABLE,
      message: 'No answer within 300 ms.',
    });
  });
});
