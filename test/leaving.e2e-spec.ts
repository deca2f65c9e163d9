import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { McpTestServer } from './support/mcp-server.js';
import { PostgresProxy } from './support/postgres-proxy.js';
import { TestService } from './support/service.js';
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
