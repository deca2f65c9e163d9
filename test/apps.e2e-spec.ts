import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AppDirectory } from '../src/apps/app.directory.js';
import { fromPublicId } from '../src/common/ids.js';
import { eventually } from './support/eventually.js';
import { aSecretsKey } from './support/secrets-keys.js';
import { TestService } from './support/service.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const URL = 'https://engine.example.com/hook';
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const SEALED = { key: 'a', sealed: expect.any(String) };

describe('apps', () => {
  let database: TestDatabase;
  let service: TestService;
  let id: string;

  const start = (...keys: string[]): Promise<TestService> =>
    TestService.start({ database, env: { BGC_SECRETS_KEYS: keys.map(aSecretsKey).join() } });
  const restart = async (...keys: string[]): Promise<void> => {
    await service.stop();
    service = await start(...keys);
  };
  const path = (): string => `/admin/v1/apps/${id}`;
  const patch = (body: unknown) => service.admin.patch(path(), body);
  const rotate = () => service.admin.post(`${path()}/rotate-webhook-secret`);
  const secrets = () =>
    service.get(AppDirectory).byId(fromPublicId('app', id) ?? '')?.delivery.secrets;
  const stored = async (): Promise<any> =>
    (await service.sql('SELECT apps.* FROM apps ORDER BY apps.name'))[0];

  beforeEach(async () => {
    database = await createTestDatabase();
    service = await start('a');
    id = (await service.admin.get('/admin/v1/apps')).body.data[0].id;
  });
  afterEach(async () => {
    await service.stop();
    await database.drop();
  });

  it('are listed, page by page, and read', async () => {
    const app = {
      id: expect.stringMatching(/^app_/),
      name: 'default',
      locale: null,
      delivery: { mode: 'pull', url: null },
      events: null,
      createdAt: expect.any(String),
    };
    expect((await service.admin.get('/admin/v1/apps')).body.data).toEqual([app]);
    expect((await service.admin.get(path())).body).toEqual(app);
    await service.sql(`INSERT INTO apps (id, name) VALUES (gen_random_uuid(), 'second')`);
    const first = await service.admin.get('/admin/v1/apps?order=asc&limit=1');
    const next = `/admin/v1/apps?order=asc&limit=1&after=${first.body.nextCursor}`;
    const pages = [first, await service.admin.get(next)];
    expect(pages.map(({ body }) => body.data[0].name)).toEqual(['default', 'second']);
    const unknown = 'app_01h455vb4pex5vsknk084sn02q';
    expect((await service.admin.get(`/admin/v1/apps/${unknown}`)).status).toBe(404);
  });

  it('get a secret with their first webhook, which is shown once and sealed at rest', async () => {
    const answer = await patch({ locale: 'en', delivery: { mode: 'webhook', url: URL } });
    expect(answer).toMatchObject({
      status: 200,
      body: { locale: 'en', delivery: { mode: 'webhook', url: URL } },
    });
    const { secret } = answer.body.delivery;
    expect(secret).toMatch(SECRET);
    expect(secrets()).toMatchObject({ current: secret, old: undefined });
    for (const shown of [await service.admin.get(path()), await patch({ delivery: { url: URL } })])
      expect(shown.body.delivery).toEqual({ mode: 'webhook', url: URL });
    const row = await stored();
    expect(row.webhook_secret).toEqual(SEALED);
    expect(JSON.stringify(row)).not.toContain(secret.slice(6));
  });

  it('keep URL and secret while they pull, and go back to them', async () => {
    const { secret } = (await patch({ delivery: { mode: 'webhook', url: URL } })).body.delivery;
    expect((await patch({ delivery: { mode: 'pull' } })).body.delivery).toEqual({
      mode: 'pull',
      url: URL,
    });
    const back = await patch({ delivery: { mode: 'webhook' } });
    expect(back.body.delivery).toEqual({ mode: 'webhook', url: URL });
    expect(secrets()?.current).toBe(secret);
  });

  it('have two secrets for a day after a rotation, and never three', async () => {
    const first = (await rotate()).body.delivery.secret as string;
    expect(secrets()).toEqual({ current: first, oldUntil: null });
    const second = (await rotate()).body.delivery.secret as string;
    expect(secrets()).toMatchObject({ current: second, old: first });
    const [{ hours }] = (await service.sql<{ hours: number }>(
      `SELECT (extract(epoch FROM apps.webhook_old_secret_until - now()) / 3600)::float8 AS hours FROM apps`,
    )) as [{ hours: number }];
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThanOrEqual(24);
    const third = (await rotate()).body.delivery.secret as string;
    expect(secrets()).toMatchObject({ current: third, old: second });
    expect(new Set([first, second, third]).size).toBe(3);
  });

  it('are known with their changes on every replica', async () => {
    const replica = await start('a');
    await patch({ delivery: { mode: 'webhook', url: URL } });
    await eventually('it is known there', () => {
      const app = replica.get(AppDirectory).byId(fromPublicId('app', id) ?? '');
      return app?.delivery.mode === 'webhook' && app.delivery.secrets.current !== undefined;
    });
    await replica.stop();
  });

  it.each<[string, unknown, string, string]>([
    ['an unknown mode', { delivery: { mode: 'push' } }, '/delivery/mode', 'one of: pull, webhook'],
    ['a webhook without URL', { delivery: { mode: 'webhook' } }, '/delivery/url', 'is missing'],
    [
      'a webhook whose URL is taken',
      { delivery: { mode: 'webhook', url: null } },
      '/delivery/url',
      'is missing',
    ],
    ['another scheme', { delivery: { url: 'ftp://x/' } }, '/delivery/url', 'http or https'],
    [
      'credentials',
      { delivery: { url: 'https://u:p@x/' } },
      '/delivery/url',
      'without user and password',
    ],
    [
      'a long URL',
      { delivery: { url: `https://x/${'x'.repeat(2_048)}` } },
      '/delivery/url',
      'must be',
    ],
    [
      'a secret of their own',
      { delivery: { secret: 'x' } },
      '/delivery/secret',
      'not a known field',
    ],
    ['an unknown language', { locale: 'fr' }, '/locale', 'zh-CN, en'],
    ['a name', { name: 'x' }, '/name', 'not a known field'],
    ['what does not exist yet', { policy: {} }, '/policy', 'not a known field'],
    ['no delivery', { delivery: null }, '/delivery', 'must be an object'],
  ])('refuse %s', async (_, body, pointer, detail) => {
    const answer = await patch(body);
    expect(answer).toMatchObject({
      status: 400,
      body: { errors: [{ pointer, detail: expect.stringContaining(detail) }] },
    });
  });

  it('have their secrets sealed anew by the next start with another first key', async () => {
    await rotate();
    await rotate();
    const before = secrets();
    await restart('b', 'a');
    const row = await stored();
    expect([row.webhook_secret.key, row.webhook_old_secret.key]).toEqual(['b', 'b']);
    await restart('b');
    expect(secrets()).toEqual(before);
  });

  it('go on without the key of their secret, which another app cannot use either', async () => {
    await patch({ delivery: { mode: 'webhook', url: URL } });
    const { webhook_secret: sealed } = await stored();
    await restart('b');
    expect(secrets()).toMatchObject({
      current: undefined,
      unopened: expect.stringContaining('"a"'),
    });
    const { secret } = (await rotate()).body.delivery;
    expect(secrets()).toMatchObject({ current: secret, old: undefined });
    await restart('b', 'a');
    await service.sql(
      `INSERT INTO apps (id, name, webhook_secret) VALUES (gen_random_uuid(), 'thief', $1)`,
      [JSON.stringify(sealed)],
    );
    await service.get(AppDirectory).refresh();
    const thief = service
      .get(AppDirectory)
      .all()
      .find(({ name }) => name === 'thief');
    expect(thief?.delivery.secrets).toMatchObject({
      current: undefined,
      unopened: expect.stringContaining('another place'),
    });
  });
});
