import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { Api } from './support/api.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { PostgresProxy } from './support/postgres-proxy.js';
import { ServiceProcess } from './support/service-process.js';
import { TestService } from './support/service.js';
import { isAlive, StdioUpstream } from './support/stdio-upstream.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

/** What each step of leaving may take, added up: drain, writing of ends (twice), lease, closing. */
const LEAVES_WITHIN_MS = 25_000;
const QUICK_LEASE = { BGC_INSTANCE_LEASE_SEC: '1', BGC_INSTANCE_HEARTBEAT_SEC: '0.3' };

describe('a service that leaves', () => {
  let database: TestDatabase;
  let proxy: PostgresProxy;
  let upstream: McpTestServer;
  let service: TestService;

  beforeEach(async () => {
    database = await createTestDatabase();
    proxy = await PostgresProxy.start(database.url);
    upstream = await McpTestServer.start();
    service = await TestService.start({
      database: { ...database, url: proxy.url },
      env: { BGC_DRAIN_SEC: '0.5', ...QUICK_LEASE },
    });
    await service.register('test', upstream.url);
  });

  afterEach(async () => {
    await upstream.stop();
    await proxy.stop();
    await database.drop();
  });

  it('comes to an end while the database is away and an abandoned call waits to be recorded', async () => {
    const engine = service.session();
    const background = await engine.callInBackground('gate', { name: 'background' });
    const caller = new AbortController();
    const request = { signal: caller.signal };
    const call = engine.call('gate', { name: 'abandoned' }, { turnId: 'turn-1' }, request);
    await upstream.untilCalled(2);
    proxy.cut();
    caller.abort();
    await expect(call).rejects.toThrow();
    const begun = performance.now();
    await service.stop();
    expect(performance.now() - begun).toBeLessThan(LEAVES_WITHIN_MS);
    await upstream.until(
      () => upstream.aborted.length === 2 || upstream.openStreams('tools/call') === 0,
    );

    // What could not be written is told by whoever comes next.
    proxy.restore();
    const next = await TestService.start({ database, env: QUICK_LEASE });

    const told = next.session(engine.sessionId);
    expect(await told.get(background.id, 20)).toMatchObject({ error: { code: 'interrupted' } });
    await next.stop();
  }, 60_000);
});

describe('a process that is told to leave while much is going on', () => {
  const DRAIN_MS = 4_000;
  const SESSIONS = ['leaving-1', 'leaving-2', 'leaving-3', 'leaving-4'];
  const CALLS_OF_EACH = 5;
  let database: TestDatabase;
  let upstream: McpTestServer;
  let service: ServiceProcess;

  const start = (): Promise<ServiceProcess> =>
    ServiceProcess.start({
      DATABASE_URL: database.url,
      BGC_DRAIN_SEC: String(DRAIN_MS / 1_000),
      ...QUICK_LEASE,
    });

  beforeEach(async () => {
    database = await createTestDatabase();
    upstream = await McpTestServer.start();
    service = await start();
    const server = { name: 'test', title: 'Test', url: upstream.url };
    expect((await service.admin.post('/admin/v1/mcp-servers', server)).status).toBe(201);
    const limits = { backgroundCalls: { maxPerTarget: CALLS_OF_EACH } };
    expect((await service.admin.patch('/admin/v1/settings', limits)).status).toBe(200);
  });

  afterEach(async () => {
    await service.end('SIGKILL');
    await upstream.stop();
    await database.drop();
  });

  async function inBackground(): Promise<Map<string, string[]>> {
    const calls = new Map<string, string[]>();
    for (const sessionId of SESSIONS) {
      const names = Array.from({ length: CALLS_OF_EACH }, (_, n) => `${sessionId}-${n}`);
      const engine = service.session(sessionId);
      const made = await Promise.all(
        names.map((name) => engine.callInBackground('gate', { name })),
      );
      calls.set(
        sessionId,
        made.map(({ id }) => id),
      );
    }
    return calls;
  }

  /** What the process has left to others. */
  async function leftRunning(): Promise<object[]> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query<object>(
      'SELECT c.id FROM background_calls c WHERE c.ended_at IS NULL UNION ALL SELECT i.id FROM instances i',
    );
    await client.end();
    return rows;
  }

  /** What a request is answered from the start of the drain on. */
  async function expectRefusals(): Promise<void> {
    const nobody = new Api(service.url, undefined);
    expect(await nobody.get('/readyz')).toMatchObject({ status: 503, body: { code: 'draining' } });
    expect((await nobody.get('/healthz')).status).toBe(200);
    for (const more of [{}, { background: { mode: 'always' } }]) {
      const refused = await service.session('new').call('echo', {}, more);
      expect(refused).toMatchObject({ status: 503, body: { code: 'draining' } });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  }

  it('answers what ends in time and every poll, refuses new calls, loses nothing and exits with 0', async () => {
    const background = await inBackground();
    const [firstId = ''] = background.get('leaving-1') ?? [];
    const engine = service.session('waiting');
    const inTime = ['a', 'b'].map((name) => engine.call('gate', { name }));
    const endless = engine.call('gate', { name: 'endless' });
    const poll = engine.messages(60);
    const waitForEnd = service.session('leaving-1').get(firstId, 60);
    await upstream.untilCalled(SESSIONS.length * CALLS_OF_EACH + 3);

    const begun = performance.now();
    const exit = service.end('SIGTERM');
    expect(await poll).toEqual([]);
    expect(await waitForEnd).toMatchObject({ status: 'running' });
    await expectRefusals();
    expect(performance.now() - begun).toBeLessThan(DRAIN_MS);
    for (const name of ['a', 'b']) upstream.release(name);
    for (const call of await Promise.all(inTime)) expect(call.status).toBe(200);
    // Its upstream was asked: trying again may do the work twice.
    expect(await endless).toMatchObject({
      status: 503,
      body: { code: 'draining', outcomeUnknown: true },
    });
    expect(await exit).toBe(0);
    // A step that hangs is cut off after 5 s at the earliest, and says so; how fast the rest is depends on the machine.
    expect(service.logged('event', 'service.stop_step_cut_off')).toEqual([]);
    expect(performance.now() - begun).toBeLessThan(DRAIN_MS + 5_000);
    await upstream.until(() => upstream.openStreams('tools/call') === 0);
    expect(await leftRunning()).toEqual([]);

    service = await start();
    for (const [sessionId, ids] of background) {
      const told = await service.session(sessionId).receive(ids);
      const notices = told.flatMap(({ notifications }) => notifications as object[]);
      expect(notices).toHaveLength(CALLS_OF_EACH);
      for (const notice of notices)
        expect(notice).toMatchObject({ status: 'failed', error: { code: 'interrupted' } });
      expect(await service.session(sessionId).messages(1)).toEqual([]);
    }
  });

  it('exits as soon as nobody waits any more, and at once on a second signal', async () => {
    expect(await service.session('gone').call('echo')).toMatchObject({ status: 200 });
    const begun = performance.now();
    expect(await service.end('SIGTERM')).toBe(0);
    expect(performance.now() - begun).toBeLessThan(DRAIN_MS);

    service = await start();
    const waiting = service.session('hurried').call('gate', { name: 'hurried' });
    const cut = expect(waiting).rejects.toThrow();
    await upstream.untilCalled(2);
    service.signal('SIGTERM');
    const nobody = new Api(service.url, undefined);
    await eventually('it drains', async () => (await nobody.get('/readyz')).status === 503);
    // What follows the first signal too closely is taken for the same one.
    const exitCode = await eventually('it has ended', () => {
      service.signal('SIGTERM');
      return service.exitCode;
    });
    expect(exitCode).toBe(1);
    await cut;
  });
});

describe('a process that is told twice to leave', () => {
  it('takes the programs with it that it had started, however stubborn they are', async () => {
    const database = await createTestDatabase();
    const program = new StdioUpstream();
    const { command, args } = program.server('stubborn');
    const service = await ServiceProcess.start({
      DATABASE_URL: database.url,
      BGC_STDIO_COMMANDS: command,
    });
    const server = { name: 'test', title: 'Test', transport: 'stdio', command, args };
    expect((await service.admin.post('/admin/v1/mcp-servers', server)).status).toBe(201);
    const engine = service.session('leaving');
    const started = await engine.call('child');
    expect(started.status).toBe(200);
    const grandchild = Number(started.body.result.content[0].text);
    const unanswered = engine.call('never').catch(() => undefined);
    await program.untilReceived('tools/call', 2);

    const exit = service.end('SIGTERM');
    await eventually('it is draining', async () => {
      const { status } = await service.admin.get('/readyz');
      return status === 503;
    });
    // What comes within 0.3 s of the first is the same wish.
    await sleep(350);
    service.signal('SIGTERM');
    expect(await exit).toBe(1);
    await unanswered;
    await program.untilGone();
    await eventually('the child of the program is gone', () => !isAlive(grandchild));
    await database.drop();
  });
});
