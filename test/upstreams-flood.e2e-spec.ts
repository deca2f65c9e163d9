import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import type { UpstreamOutcome } from '../src/upstreams/upstream-call.js';
import type { McpServer } from '../src/upstreams/mcp-server.js';
import type { UpstreamPool } from '../src/upstreams/upstream-pool.js';
import { McpTestServer } from './support/mcp-server.js';
import { SseTestServer } from './support/sse-server.js';
import { StdioUpstream } from './support/stdio-upstream.js';
import { aListener, aToolRequest } from './support/upstream-call.js';
import { aPool, aServer, LOOPBACK } from './support/upstream-pool.js';

const TIMES = 4_000;
const event = (message: object): string => `data: ${JSON.stringify(message)}\n\n`;
const progress = (progressToken: number, done: number): object => ({
  ...{ jsonrpc: '2.0', method: 'notifications/progress' },
  params: { progressToken, progress: done },
});
const answer = (id: number): object => ({ jsonrpc: '2.0', id, result: { content: [] } });
/** Progress and then the answer, as events of their own. */
const rush = (id: number): string[] => [
  ...Array.from({ length: TIMES }, (_, n) => event(progress(id, n + 1))),
  event(answer(id)),
];

const idOfCall = (body: string): number | undefined => {
  const { id, method } = JSON.parse(body || '{}') as { id: number; method?: string };
  return method === 'tools/call' ? id : undefined;
};

describe('An upstream that sends thousands', () => {
  let http: OutboundHttp;
  let pool: UpstreamPool;
  let told: number[];
  let cleanUp: () => Promise<void> | void;

  beforeEach(() => {
    http = new OutboundHttp(LOOPBACK);
    pool = aPool(http);
    told = [];
  });
  afterEach(async () => {
    await pool.onApplicationShutdown();
    await http.onApplicationShutdown();
    await cleanUp();
  });

  const call = (server: McpServer, tool: string, args = {}): Promise<UpstreamOutcome> =>
    pool.call(
      server,
      aToolRequest(tool, args),
      aListener({ onProgress: (one) => void told.push(one.progress) }),
    ).outcome;
  const expectLittleToldAndTheLast = (): void => {
    expect(told.at(-1)).toBe(TIMES);
    expect(told.length).toBeLessThan(TIMES / 10);
    expect(told).toEqual([...told].sort((one, other) => one - other));
  };

  it.each(['one write', 'a write for each'])(
    'of steps and its answer is heard as far as needed: http, %s',
    async (how) => {
      const upstream = await McpTestServer.start({
        intercept: (_request, response, body) => {
          const id = idOfCall(body);
          if (id === undefined) return false;
          response.writeHead(200, { 'content-type': 'text/event-stream' });
          response.cork();
          if (how === 'one write') response.write(rush(id).join(''));
          else for (const one of rush(id)) response.write(one);
          response.uncork();
          response.end();
          return true;
        },
      });
      cleanUp = () => upstream.stop();
      expect(await call(aServer({ url: upstream.url }), 'rush')).toMatchObject({ kind: 'result' });
      expectLittleToldAndTheLast();
    },
  );

  it('of steps and its answer is heard as far as needed: sse', async () => {
    const upstream = await SseTestServer.start({
      intercept: (_request, response, body) => {
        const id = idOfCall(body);
        if (id === undefined) return false;
        response.writeHead(202).end();
        upstream.write(rush(id).join(''));
        return true;
      },
    });
    cleanUp = () => upstream.stop();
    const server = aServer({ url: upstream.url, transport: 'sse' });
    expect(await call(server, 'rush')).toMatchObject({ kind: 'result' });
    expectLittleToldAndTheLast();
  });

  it('of steps and its answer is heard as far as needed: stdio', async () => {
    const upstream = new StdioUpstream();
    cleanUp = () => upstream.remove();
    const outcome = await call(upstream.server(), 'rush', { times: TIMES });
    expect(outcome).toMatchObject({ kind: 'result' });
    expectLittleToldAndTheLast();
  });

  const LOG = 'notifications/message';
  const log = Array.from({ length: TIMES }, (_, n) =>
    event({ jsonrpc: '2.0', method: LOG, params: { level: 'info', data: `line ${n}` } }),
  ).join('');

  it('of lines of a log, answers and breaks off has answered: http', async () => {
    const upstream = await McpTestServer.start({
      intercept: (_request, response, body) => {
        const id = idOfCall(body);
        if (id === undefined) return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(log + event(answer(id)), () => response.destroy());
        return true;
      },
    });
    cleanUp = () => upstream.stop();
    expect(await call(aServer({ url: upstream.url }), 'any')).toMatchObject({ kind: 'result' });
  });

  it('of lines of a log, answers and breaks off has answered: sse', async () => {
    const upstream = await SseTestServer.start({
      intercept: (_request, response, body) => {
        const id = idOfCall(body);
        if (id === undefined) return false;
        response.writeHead(202).end();
        upstream.write(log + event(answer(id)), () => upstream.endStreams('destroy'));
        return true;
      },
    });
    cleanUp = () => upstream.stop();
    const server = aServer({ url: upstream.url, transport: 'sse' });
    expect(await call(server, 'any')).toMatchObject({ kind: 'result' });
  });

  it('of lines of a log, answers and ends has answered: stdio', async () => {
    const upstream = new StdioUpstream();
    cleanUp = () => upstream.remove();
    // As short as can be: the more of them are still in the pipe at its end.
    const args = { times: 3 * TIMES, method: 'x', ends: true };
    expect(await call(upstream.server(), 'rush', args)).toMatchObject({ kind: 'result' });
  });
});
