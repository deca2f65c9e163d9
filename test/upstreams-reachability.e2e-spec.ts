import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { runInRequestContext } from '../src/common/request-context.js';
import { McpServerDirectory } from '../src/upstreams/registration/mcp-server.directory.js';
import { UpstreamPool } from '../src/upstreams/upstream-pool.js';
import { eventually } from './support/eventually.js';
import { McpTestServer, type McpServerOptions } from './support/mcp-server.js';
import { UpstreamsOfTest } from './support/upstreams-of-test.js';
import { TestService } from './support/service.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';
import { aListener, aToolRequest } from './support/upstream-call.js';

const SERVERS = '/admin/v1/mcp-servers';
const ERROR = { code: 'upstream_unreachable', message: expect.stringContaining('ECONNREFUSED') };
const TIME = expect.stringMatching(/^\d{4}-.*Z$/);

describe('What is seen of MCP servers', () => {
  let database: TestDatabase;
  let one: TestService;
  let other: TestService;
  const upstreams = new UpstreamsOfTest();

  beforeAll(async () => {
    database = await createTestDatabase();
    one = await TestService.start({ database });
    other = await TestService.start({ database });
  });
  afterAll(async () => {
    await Promise.all([one?.stop(), other?.stop()]);
    await database.drop();
  });
  afterEach(() => upstreams.stopAll());

  const start = (options?: McpServerOptions): Promise<McpTestServer> => upstreams.start(options);
  /** The port of a server that has just been stopped. */
  const deadPort = async (): Promise<number> => {
    const upstream = await McpTestServer.start();
    const { port } = upstream;
    await upstream.stop();
    return port;
  };
  const urlOf = (port: number): string => `http://127.0.0.1:${port}/mcp`;
  const see = async (id: string, service = one): Promise<any> =>
    (await service.admin.get(`${SERVERS}/${id}`)).body;
  const call = async (server: string, service = one, tool = 'echo'): Promise<number> =>
    (await service.session().call(tool, {}, { server })).status;
  const untilSeen = (id: string, reachable: boolean): Promise<any> =>
    eventually(`reachable: ${reachable}`, async () => {
      const seen = await see(id);
      return seen.reachable === reachable && seen;
    });

  it('is nothing until somebody tries', async () => {
    const { url } = await start();
    const id = await one.register('untried', url);
    expect(await see(id)).toMatchObject({
      enabled: true,
      reachable: null,
      lastError: null,
      lastCheckedAt: null,
      nextTryAt: null,
    });
    expect(await call('untried')).toBe(200);
    expect(await untilSeen(id, true)).toMatchObject({ lastError: null, lastCheckedAt: TIME });
  });

  it('is an error and the next try, the same at both replicas, until the server is there again', async () => {
    const port = await deadPort();
    const id = await one.register('dead', urlOf(port));
    expect(await call('dead')).toBe(502);
    const seen = await untilSeen(id, false);
    const shown = { enabled: true, lastError: ERROR, lastCheckedAt: TIME, nextTryAt: TIME };
    expect(seen).toMatchObject(shown);
    expect(Date.parse(seen.nextTryAt) - Date.parse(seen.lastCheckedAt)).toBeLessThan(3_000);
    const elsewhere = await see(id, other);
    expect(elsewhere).toMatchObject({ ...shown, reachable: false });
    const { body } = await other.admin.get(SERVERS);
    expect(body.data.find((server: { id: string }) => server.id === id)).toMatchObject(shown);

    const upstream = await start({ port });
    const well = { enabled: true, lastError: null, nextTryAt: null };
    expect(await untilSeen(id, true)).toMatchObject(well);
    expect(await see(id, other)).toMatchObject({ ...well, reachable: true });
    expect(upstream.calls).toEqual([]);
  });

  it('does not keep a call from trying at once', async () => {
    const port = await deadPort();
    const id = await one.register('waking', urlOf(port));
    await call('waking');
    const { nextTryAt } = await untilSeen(id, false);
    await start({ port });
    expect(await call('waking', other)).toBe(200);
    expect(nextTryAt).toEqual(TIME);
    expect(await untilSeen(id, true)).toMatchObject({ nextTryAt: null });
  });

  it('follows a server that dies while it is connected', async () => {
    const upstream = await start();
    const id = await one.register('dying', upstream.url);
    expect(await call('dying')).toBe(200);
    await untilSeen(id, true);
    const { port } = upstream;
    await upstream.stop();
    upstreams.forget();
    expect(await call('dying')).toBe(502);
    expect(await untilSeen(id, false)).toMatchObject({ lastError: ERROR });
    await start({ port });
    await untilSeen(id, true);
  });

  it('follows a server that dies in the middle of a call', async () => {
    const upstream = await start();
    const id = await one.register('dying-in-call', upstream.url);
    const dying = call('dying-in-call', one, 'gate');
    await upstream.untilCalled(1);
    await untilSeen(id, true);
    await upstream.stop();
    upstreams.forget();
    expect(await dying).toBe(502);
    expect(await untilSeen(id, false)).toMatchObject({ lastError: ERROR });
  });

  it('stays when the server refuses a request but is there', async () => {
    const upstream = await start({
      intercept: (_request, response, body) => {
        if (!body.includes('"tools/call"')) return false;
        response.writeHead(429).end('slow down');
        return true;
      },
    });
    const id = await one.register('busy', upstream.url);
    expect(await call('busy')).toBe(502);
    expect(await call('busy')).toBe(502);
    expect(await see(id)).toMatchObject({ reachable: true });
    expect(upstream.initializes).toBe(1);
  });

  it('is forgotten with the configuration, and nobody tries a server that is disabled', async () => {
    const [changed, disabled, clock] = [await deadPort(), await deadPort(), await deadPort()];
    const ids = [
      await one.register('changed', urlOf(changed)),
      await one.register('disabled', urlOf(disabled)),
      await one.register('clock', urlOf(clock)),
    ] as const;
    await Promise.all([call('changed'), call('disabled')]);
    await untilSeen(ids[0], false);
    await untilSeen(ids[1], false);
    const moved = await one.admin.patch(`${SERVERS}/${ids[0]}`, { url: `${urlOf(changed)}?x` });
    expect(moved.body).toMatchObject({ reachable: null, lastError: null, nextTryAt: null });
    const off = await one.admin.patch(`${SERVERS}/${ids[1]}`, { enabled: false });
    expect(off.body).toMatchObject({ reachable: false, lastError: ERROR, nextTryAt: null });
    const asleep = [await start({ port: changed }), await start({ port: disabled })];
    await call('clock');
    const ticking = await start({ port: clock });
    await untilSeen(ids[2], true);
    expect(ticking.initializes).toBeGreaterThan(0);
    expect(asleep.map(({ initializes }) => initializes)).toEqual([0, 0]);
  });

  it('is written outside of the call that saw it', async () => {
    const id = await one.register('uncounted', urlOf(await deadPort()));
    const context = { requestId: 'r', statements: 0 };
    await runInRequestContext(context, () => {
      const server = one.get(McpServerDirectory).byName('uncounted')!;
      return one.get(UpstreamPool).call(server, aToolRequest('x'), aListener()).outcome;
    });
    await untilSeen(id, false);
    expect(context.statements).toBe(0);
  });

  it('takes one try at a time, however many replicas saw the failure', async () => {
    const upstream = await start({
      intercept: (_request, response) => {
        response.writeHead(500).end();
        return true;
      },
    });
    const id = await one.register('broken', upstream.url);
    await eventually('known elsewhere', () => other.get(McpServerDirectory).byName('broken'));
    await Promise.all([call('broken'), call('broken', other)]);
    await untilSeen(id, false);
    const begun = performance.now();
    const before = upstream.initializes;
    await upstream.until(() => upstream.initializes >= before + 2);
    // The second wait is 2 s, give or take a fifth: two replicas would both have tried after the first.
    expect(performance.now() - begun).toBeGreaterThan(1_500);
  });

  it('is taken over when the replica that made the tries is gone', async () => {
    const port = await deadPort();
    const owner = await TestService.start({ database });
    const id = await one.register('orphan', urlOf(port));
    await eventually('known', () => owner.get(McpServerDirectory).byName('orphan'));
    expect(await call('orphan', owner)).toBe(502);
    await untilSeen(id, false);
    await owner.stop();
    await start({ port });
    await one.sql(
      `UPDATE mcp_server_states SET next_try_at = now() - interval '1 hour' WHERE NOT reachable`,
    );
    const heir = await TestService.start({ database });
    await eventually('reachable', async () => (await see(id)).reachable === true, 20_000);
    await heir.stop();
  });

  it('costs no other server, no list and no start anything when a server hangs', async () => {
    const isOver = new AbortController();
    const hanging = await start({ delayInitialize: () => aborted(isOver.signal) });
    const well = await start();
    await one.register('hanging', hanging.url);
    await one.register('well', well.url);
    await one.sql(`UPDATE mcp_server_states SET next_try_at = now() WHERE NOT reachable`);
    const slow = call('hanging');
    await hanging.until(() => hanging.initializes === 1);
    const begun = performance.now();
    expect(await call('well')).toBe(200);
    expect((await one.admin.get(SERVERS)).status).toBe(200);
    const late = await TestService.start({ database });
    expect(performance.now() - begun).toBeLessThan(5_000);
    await late.stop();
    isOver.abort();
    await slow;
  });
});

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
}

describe('A server that speaks only a newer protocol', () => {
  const error = { code: -32022, message: 'Unsupported protocol version' };
  const refusal = JSON.stringify({ jsonrpc: '2.0', id: 0, error });
  /** Answers each line so. */
  const program = `process.stdin.on('data', () => console.log(${JSON.stringify(refusal)}))`;
  const SAYS_SO =
    'The server speaks only a newer MCP protocol than this service (up to 2025-11-25).';
  let service: TestService;
  let web: McpTestServer;

  beforeAll(async () => {
    service = await TestService.start({ env: { BGC_STDIO_COMMANDS: process.execPath } });
    web = await McpTestServer.start({
      intercept: (_request, response) => {
        response.writeHead(400, { 'content-type': 'application/json' }).end(refusal);
        return true;
      },
    });
  });
  afterAll(async () => {
    await service?.stop();
    await web.stop();
  });

  it.each<[string, () => object]>([
    ['http', () => ({ url: web.url })],
    ['stdio', () => ({ command: process.execPath, args: ['-e', program] })],
  ])('is told as such to its caller and its administrator, over %s', async (transport, place) => {
    const registration = { name: transport, title: 'Test', transport, ...place() };
    const { body: server } = await service.admin.post(SERVERS, registration);
    const answer = await service.session().call('echo', {}, { server: transport });
    expect(answer).toMatchObject({
      status: 502,
      body: { code: 'upstream_unreachable', detail: SAYS_SO },
    });
    expect(answer.body.outcomeUnknown).toBeUndefined();
    const engine = service.session();
    const { id } = await engine.callInBackground('echo', {}, { server: transport });
    const ended = await engine.get(id, 10);
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'upstream_unreachable' } });
    expect(ended.error.message).toContain(SAYS_SO.slice(0, -1));
    const { lastError } = await eventually('it is seen', async () => {
      const { body } = await service.admin.get(`${SERVERS}/${server.id}`);
      return body.reachable === false && body;
    });
    expect(lastError).toEqual({ code: 'upstream_unreachable', message: SAYS_SO });
  });
});
