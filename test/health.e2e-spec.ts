import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Drain } from '../src/common/drain.js';
import { Api } from './support/api.js';
import { eventually } from './support/eventually.js';
import { PostgresProxy } from './support/postgres-proxy.js';
import { TestService } from './support/service.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

describe('what a load balancer and a supervisor ask', () => {
  let database: TestDatabase;
  let proxy: PostgresProxy;
  let service: TestService;
  let nobody: Api;

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await PostgresProxy.start(database.url);
    service = await TestService.start({ database: { ...database, url: proxy.url } });
    nobody = new Api(service.url, undefined);
  });

  afterAll(async () => {
    await service.stop();
    await proxy.stop();
    await database.drop();
  });

  it('is answered without a key', async () => {
    for (const path of ['/healthz', '/readyz'])
      expect(await nobody.get(path)).toMatchObject({ status: 200, body: { status: 'ok' } });
  });

  it('is told that the process lives and is not ready while the database is away', async () => {
    proxy.cut();
    const away = await nobody.get('/readyz');
    expect(away).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
    expect(away.headers.get('retry-after')).not.toBeNull();
    expect((await nobody.get('/healthz')).status).toBe(200);
    proxy.restore();
    await eventually('it is ready again', async () => (await nobody.get('/readyz')).status === 200);
  });

  it('is told at once that the process is leaving', async () => {
    service.get(Drain).begin();
    expect(await nobody.get('/readyz')).toMatchObject({ status: 503, body: { code: 'draining' } });
    expect((await nobody.get('/healthz')).status).toBe(200);
  });
});
