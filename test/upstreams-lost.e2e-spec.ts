import { setTimeout as sleep } from 'node:timers/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import { afterEach, describe, expect, it } from '@jest/globals';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import { SdkConnector } from '../src/upstreams/sdk/sdk-connector.js';
import { McpTestServer } from './support/mcp-server.js';
import { type ToolHandler, textResult } from './support/mcp-tools.js';
import { aListener, aToolRequest } from './support/upstream-call.js';
import {
  aPool,
  aServer,
  CONFIGURATION,
  PROGRAMS,
  type PoolFixture,
  poolFixture,
  LOOPBACK,
} from './support/upstream-pool.js';

let fixture: PoolFixture;
afterEach(() => fixture.close());

describe.each([
  { mode: 'in stream mode', options: {} },
  { mode: 'in JSON mode', options: { jsonMode: true } },
  { mode: 'with an event store', options: { eventStore: new InMemoryEventStore() } },
])('An upstream $mode', ({ options }) => {
  it('that is killed in mid-call loses the call within 3 s, outcome unknown', async () => {
    fixture = await poolFixture(options);
    const call = fixture.call('slow', { ms: 60_000, steps: 1_200 });
    await fixture.upstream.untilCalled(1);
    if (!('jsonMode' in options)) await fixture.untilProgress();
    const started = performance.now();
    await fixture.upstream.stop();
    expect(await call.outcome).toMatchObject({
      kind: 'error',
      code: 'upstream_lost',
      outcomeUnknown: true,
    });
    expect(performance.now() - started).toBeLessThan(3_000);
  });

  it('that was restarted and forgot the session takes the next call at the first try', async () => {
    fixture = await poolFixture(options);
    await fixture.call('echo').outcome;
    const { port } = fixture.upstream;
    await fixture.upstream.stop();
    fixture.upstream = await McpTestServer.start({ ...options, port });
    const calls = [1, 2, 3].map((n) => fixture.call('echo', { n }).outcome);
    for (const outcome of await Promise.all(calls)) expect(outcome.kind).toBe('result');
    expect(fixture.upstream.initializes).toBe(1);
  });
});

describe('A connection that is cut in mid-call', () => {
  it('is taken up again by event id, and the answer is not lost', async () => {
    fixture = await poolFixture({ eventStore: new InMemoryEventStore() });
    const call = fixture.call('gate', { name: 'x' });
    await fixture.upstream.untilCalled(1);
    await fixture.upstream.until(() => fixture.upstream.cutStreams('tools/call') > 0);
    fixture.upstream.release('x', textResult('after the cut'));
    expect(await call.outcome).toEqual({ kind: 'result', result: textResult('after the cut') });
    expect(fixture.upstream.calls).toHaveLength(1);
  });

  it('is no reason to lose a call whose upstream asked something on its stream', async () => {
    const asking: ToolHandler = async ({ name }, { ping, gate }) => {
      await ping();
      return gate(String(name));
    };
    fixture = await poolFixture({ tools: { asking } });
    const call = fixture.call('asking', { name: 'x' });
    // Longer than a stream that ended is still read.
    await sleep(600);
    fixture.upstream.release('x');
    expect(await call.outcome).toMatchObject({ kind: 'result' });
  });

  it('fails other calls of the session in no way', async () => {
    fixture = await poolFixture();
    const cut = fixture.call('gate', { name: 'a' });
    await fixture.upstream.untilCalled(1);
    await fixture.upstream.until(() => fixture.upstream.cutStreams('tools/call') > 0);
    const other = fixture.call('gate', { name: 'b' });
    expect(await cut.outcome).toMatchObject({ code: 'upstream_lost' });
    fixture.upstream.release('b');
    expect(await other.outcome).toMatchObject({ kind: 'result' });
  });
});

describe('An upstream that does not keep to the protocol', () => {
  const answers = (status: number, body: string, contentType = 'application/json') =>
    poolFixture({
      intercept: (_request, response, text) => {
        if (!text.includes('"tools/call"')) return false;
        response.writeHead(status, { 'content-type': contentType }).end(body);
        return true;
      },
    });

  it.each([
    {
      answer: 'a page of HTML',
      status: 200,
      type: 'text/html',
      code: 'upstream_error',
      unknown: true,
    },
    {
      answer: 'broken JSON',
      status: 200,
      type: 'application/json',
      code: 'upstream_error',
      unknown: true,
    },
    {
      answer: 'an empty stream',
      status: 200,
      type: 'text/event-stream',
      code: 'upstream_lost',
      unknown: true,
    },
    { answer: '500', status: 500, type: 'text/plain', code: 'upstream_lost', unknown: true },
    {
      answer: '401',
      status: 401,
      type: 'text/plain',
      code: 'upstream_unreachable',
      unknown: false,
    },
    {
      answer: 'a redirect',
      status: 307,
      type: 'text/plain',
      code: 'outbound_refused',
      unknown: false,
    },
  ])('and answers with $answer: $code', async ({ status, type, code, unknown }) => {
    fixture = await answers(status, type === 'text/event-stream' ? '' : '{', type);
    expect(await fixture.call('echo').outcome).toMatchObject({ code, outcomeUnknown: unknown });
  });

  it('and streams a message that is none: upstream_error, outcome unknown', async () => {
    fixture = await answers(200, 'data: {"jsonrpc":"2.0","id":"?"}\n\n', 'text/event-stream');
    expect(await fixture.call('echo').outcome).toMatchObject({
      code: 'upstream_error',
      outcomeUnknown: true,
    });
  });
});

describe('An upstream that can not be reached', () => {
  const failing = async (url: string, http = new OutboundHttp(LOOPBACK)): Promise<unknown> => {
    const pool = aPool(http, fixture.settings, new HastyConnector(http, CONFIGURATION, PROGRAMS));
    const call = pool.call(aServer({ url }), aToolRequest('echo'), aListener());
    const outcome = await call.outcome;
    await pool.onApplicationShutdown();
    await http.onApplicationShutdown();
    return outcome;
  };

  class HastyConnector extends SdkConnector {
    protected override readonly connectMs = 300;
  }

  it.each([400, 401, 404, 500, 503])('because it answers %i to initialize', async (status) => {
    fixture = await poolFixture({
      intercept: (_request, response) => {
        response.writeHead(status).end('go away');
        return true;
      },
    });
    expect(await fixture.call('echo').outcome).toEqual({
      kind: 'error',
      code: 'upstream_unreachable',
      message: `The upstream can't be reached: HTTP ${status}: go away`,
      outcomeUnknown: false,
    });
  });

  const NOT_MCP = "The upstream's answer is not MCP: ";
  const NO_ANSWER = `${NOT_MCP}it is over and holds no answer`;
  it.each<[string, number, string, string, string]>([
    ['an empty batch', 200, 'application/json', '[]', NO_ANSWER],
    ['a batch without it', 200, 'application/json', '[{"jsonrpc":"2.0","method":"x"}]', NO_ANSWER],
    ['a stream without it', 200, 'text/event-stream', ': hello\n\n', NO_ANSWER],
    ['an acceptance', 202, 'text/plain', 'Accepted', NO_ANSWER],
    [
      'a page',
      ...([200, 'text/html', '<html>'] as const),
      "The upstream can't be reached: Unexpected content type: text/html",
    ],
    [
      'an answer without what belongs to it',
      ...([200, 'application/json', '{"jsonrpc":"2.0","id":0,"result":{}}'] as const),
      `${NOT_MCP}protocolVersion: expected string, received undefined`,
    ],
    [
      'an answer that is none',
      ...([200, 'text/event-stream', 'data: {"jsonrpc":"2.0","id":0,"result":7}\n\n'] as const),
      `${NOT_MCP}result: expected object, received number`,
    ],
  ])('because it answers initialize with %s', async (_, status, type, body, message) => {
    fixture = await poolFixture({
      intercept: (_request, response) => {
        response.writeHead(status, { 'content-type': type }).end(body);
        return true;
      },
    });
    expect(await fixture.call('echo').outcome).toEqual({
      ...{ kind: 'error', code: 'upstream_unreachable', outcomeUnknown: false },
      message,
    });
  });

  it('because its stream breaks before it answers initialize', async () => {
    fixture = await poolFixture({
      intercept: (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(': hello\n\n', () => response.destroy());
        return true;
      },
    });
    expect(await fixture.call('echo').outcome).toMatchObject({
      code: 'upstream_unreachable',
      message: expect.stringContaining(`${NOT_MCP}it broke off (`),
    });
  });

  it('because it speaks only a newer protocol: the message says so', async () => {
    fixture = await poolFixture({
      intercept: (_request, response) => {
        const error = { code: -32022, message: 'Unsupported protocol version' };
        response.writeHead(400, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id: 0, error }));
        return true;
      },
    });
    expect(await fixture.call('echo').outcome).toMatchObject({
      code: 'upstream_unreachable',
      message: expect.stringContaining('newer MCP protocol'),
    });
  });

  it('because nothing listens there, before and after it was connected', async () => {
    fixture = await poolFixture();
    await fixture.call('echo').outcome;
    await fixture.upstream.stop();
    const expected = { code: 'upstream_unreachable', outcomeUnknown: false };
    expect(await fixture.call('echo').outcome).toMatchObject(expected);
    expect(await failing(fixture.server.url)).toMatchObject(expected);
    fixture.upstream = await McpTestServer.start();
  });

  it('because its name does not exist', async () => {
    fixture = await poolFixture();
    expect(await failing('http://no-such-host.invalid/mcp')).toMatchObject({
      code: 'upstream_unreachable',
      outcomeUnknown: false,
    });
  });

  it('because it accepts the connection and says nothing', async () => {
    fixture = await poolFixture();
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    expect(await failing(`http://127.0.0.1:${port}/mcp`)).toMatchObject({
      code: 'upstream_unreachable',
      message: 'No answer within 300 ms.',
    });
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  });
});
