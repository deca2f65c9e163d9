import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import type { McpServer } from '../src/upstreams/mcp-server.js';
import type { UpstreamPool } from '../src/upstreams/upstream-pool.js';
import { eventually } from './support/eventually.js';
import {
  type Held,
  heldByProcess,
  heldWhenQuiet,
  untilGivenBack,
} from './support/held-resources.js';
import { type McpServerOptions, McpTestServer } from './support/mcp-server.js';
import { SseTestServer } from './support/sse-server.js';
import { StdioUpstream } from './support/stdio-upstream.js';
import { aListener, aToolRequest } from './support/upstream-call.js';
import { aConnector, aPool, aServer, LOOPBACK } from './support/upstream-pool.js';

const TIMES = 100;
const AT_ONCE = 50;
/** The nth call is cancelled n % 11 ms after the upstream has got it. */
const DELAYS = 11;

/** An upstream with a tool that never answers, and what it has seen of its calls. */
interface Side {
  server: McpServer;
  tool: string;
  /** Resolves when it has got the call of this name; `begun` resolves when it has told progress. */
  got(name: string, begun: Promise<void>): Promise<unknown>;
  /** How many of its handlers saw their signal abort. */
  aborted(): number;
  openStreams(): number;
  stop(): Promise<void>;
}

let http: OutboundHttp;
let pool: UpstreamPool;
let side: Side | undefined;

beforeEach(() => {
  http = new OutboundHttp(LOOPBACK);
  pool = aPool(http);
});
afterEach(async () => {
  await pool.onApplicationShutdown();
  await http.onApplicationShutdown();
  await side?.stop();
});

describe(`${TIMES} calls that are cancelled at once, the last of them after ${DELAYS - 1} ms`, () => {
  it.each<[string, () => Promise<Side>]>([
    ['Streamable HTTP with sessions', () => streamable({})],
    ['Streamable HTTP with sessions, in JSON mode', () => streamable({ jsonMode: true })],
    ['a stateless server, which notices only that its stream is closed', stateless],
    ['HTTP with SSE', sse],
    ['stdio', stdio],
  ])('have all their handlers aborted, and nothing is held: %s', async (_, start) => {
    const { server, tool, got, aborted, openStreams } = (side = await start());
    await pool.call(server, aToolRequest('echo'), aListener()).outcome;
    await cancelSoon(0);
    const held = (): Held => ({ ...heldByProcess(), streams: openStreams() });
    const before = await heldWhenQuiet(held);
    const abortedBefore = aborted();

    for (let done = 1; done <= TIMES; done += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => cancelSoon(done + n)));

    await eventually('every handler is aborted', () => aborted() - abortedBefore >= TIMES);
    expect(aborted() - abortedBefore).toBe(TIMES);
    await untilGivenBack(held, before);

    async function cancelSoon(n: number): Promise<void> {
      const name = `never ${n}`;
      let begin = (): void => undefined;
      const begun = new Promise<void>((resolve) => (begin = resolve));
      const listener = aListener({ onProgress: () => begin() });
      const call = pool.call(server, aToolRequest(tool, { name }), listener);
      await got(name, begun);
      await sleep(n % DELAYS);
      await call.cancel('not wanted');
      expect(await call.outcome).toMatchObject({ kind: 'error', outcomeUnknown: true });
    }
  });
});

describe('The request with the id 0', () => {
  it('is never a call of a session that another process began, so that it can be cancelled', async () => {
    const upstream = await McpTestServer.start({ stateless: true });
    side = sideOf(upstream);
    const place = { url: upstream.url, sessionId: null, protocolVersion: '2025-11-25' };
    const reference = { kind: 'task' as const, ...place, taskId: 'any', ttlMs: null };
    const session = await aConnector(http).attach(aServer({ url: upstream.url }), reference);
    const call = session.call(aToolRequest('gate', { name: 'x' }), aListener());
    const failed = expect(call.answer).rejects.toMatchObject({ outcomeUnknown: true });
    await upstream.untilCalled(1);
    await call.cancel('not wanted');
    await failed;
    await upstream.until(() => upstream.aborted.length === 1);
    const { id } = JSON.parse(upstream.calls[0]?.body ?? '') as { id: number };
    expect(id).toBeGreaterThan(0);
    expect(upstream.cancelled).toEqual([{ requestId: id, reason: 'not wanted' }]);
    await session.close({ forget: false });
  });
});

async function streamable(options: McpServerOptions): Promise<Side> {
  return sideOf(await McpTestServer.start(options));
}

/** As these servers do, it offers no stream for what belongs to no call. */
async function stateless(): Promise<Side> {
  return streamable({
    stateless: true,
    intercept: (request, response) => {
      if (request.method === 'POST') return false;
      response.writeHead(405).end();
      return true;
    },
  });
}

function sideOf(upstream: McpTestServer): Side {
  return {
    server: aServer({ url: upstream.url }),
    tool: 'gate',
    got: (name) =>
      upstream.until(() => upstream.calls.some((call) => call.arguments.name === name)),
    aborted: () => upstream.aborted.length,
    openStreams: () => upstream.openStreams('tools/call'),
    stop: () => upstream.stop(),
  };
}

async function sse(): Promise<Side> {
  const upstream = await SseTestServer.start();
  const names = (): unknown[] =>
    upstream.received('tools/call').map(({ params }) => params?.arguments.name);
  return {
    server: aServer({ url: upstream.url, transport: 'sse' }),
    tool: 'gate',
    got: (name) => eventually(name, () => names().includes(name)),
    aborted: () => upstream.aborted,
    openStreams: () => upstream.open,
    stop: () => upstream.stop(),
  };
}

async function stdio(): Promise<Side> {
  const upstream = new StdioUpstream();
  return Promise.resolve({
    server: upstream.server(),
    tool: 'never',
    got: (_, begun) => begun,
    aborted: () => upstream.aborted.length,
    openStreams: () => 0,
    stop: async () => {
      await upstream.untilGone();
      upstream.remove();
    },
  });
}
