import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Controller, Get, Post } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AppDirectory } from '../src/apps/app.directory.js';
import { AppsModule } from '../src/apps/apps.module.js';
import { GeneratedKeys } from '../src/auth/generated-keys.js';
import { Audience } from '../src/auth/http/audience.decorator.js';
import { CurrentApp } from '../src/auth/http/current-app.decorator.js';
import { Public } from '../src/auth/http/public.decorator.js';
import { currentRequestContext } from '../src/common/request-context.js';
import { Database } from '../src/database/database.js';
import { type BaseApp, startBaseApp } from './support/base-app.js';
import { eventually } from './support/eventually.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

@Controller('agent')
@Audience('agent')
class AgentController {
  @Get()
  read(@CurrentApp() appId: string): object {
    return { appId, statements: currentRequestContext()?.statements };
  }

  @Post()
  write(): object {
    return {};
  }
}

@Controller('bot')
@Audience('bot')
class BotController {
  @Get()
  read(@CurrentApp() appId: string): object {
    return { appId };
  }
}

@Controller('forgotten')
class ForgottenController {
  @Get()
  read(): object {
    return {};
  }

  @Get('open')
  @Public()
  open(): object {
    return { open: true };
  }
}

const CONTROLLERS = [AgentController, BotController, ForgottenController];
const bearer = (key = ''): Record<string, string> => ({ authorization: `Bearer ${key}` });

describe('keys', () => {
  let database: TestDatabase;
  let dataDir: string;
  let running: BaseApp[];

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'background-calls-keys-'));
  });
  beforeEach(async () => {
    database = await createTestDatabase();
    running = [];
  });
  afterEach(async () => {
    await Promise.all(running.map((app) => app.close()));
    await database.drop();
    await rm(join(dataDir, 'keys.json'), { force: true });
  });
  afterAll(() => rm(dataDir, { recursive: true }));

  const start = async (environment: NodeJS.ProcessEnv = {}): Promise<BaseApp> => {
    const data = { DATABASE_URL: database.url, BGC_DATA_DIR: dataDir };
    const app = await startBaseApp({ ...data, ...environment }, CONTROLLERS, [AppsModule]);
    running.push(app);
    return app;
  };
  const statusOf = async (app: BaseApp, url: string, headers = {}): Promise<number> =>
    (await app.send({ url, headers })).status;

  it('are generated at the first start, saved for their owner alone, and kept at the next', async () => {
    const first = await start();
    const { keys, savedIn } = first.app.get(GeneratedKeys);
    expect(Object.keys(keys).sort()).toEqual(['admin', 'agent', 'bot']);
    expect(keys.agent).toMatch(/^bgc_agent_[\w-]{43}$/);
    expect(savedIn).toBe(join(dataDir, 'keys.json'));
    expect(JSON.parse(await readFile(savedIn!, 'utf8'))).toEqual(keys);
    expect((await stat(savedIn!)).mode & 0o777).toBe(0o600);

    const second = await start();
    expect(second.app.get(GeneratedKeys)).toEqual({ keys: {}, savedIn: undefined });
    expect(await statusOf(second, '/agent', bearer(keys.agent))).toBe(200);
  });

  it('are generated once by replicas that start together', async () => {
    const replicas = await Promise.all([start(), start(), start()]);
    const generated = replicas.flatMap(({ app }) => Object.keys(app.get(GeneratedKeys).keys));
    expect(generated.sort()).toEqual(['admin', 'agent', 'bot']);
    const rows = await replicas[0].app.get(Database).query('SELECT key.id FROM api_keys key');
    expect(rows).toHaveLength(3);
  });

  it('of the environment replace the earlier one, which stops at once on every replica', async () => {
    const old = { BGC_AGENT_KEY: 'the-first-agent-key-123456' };
    const before = await start(old);
    expect(before.app.get(GeneratedKeys).keys.agent).toBeUndefined();
    expect(await statusOf(before, '/agent', bearer(old.BGC_AGENT_KEY))).toBe(200);

    const after = await start({ BGC_AGENT_KEY: 'the-second-agent-key-12345' });
    expect(await statusOf(after, '/agent', bearer(old.BGC_AGENT_KEY))).toBe(401);
    expect(await statusOf(after, '/agent', bearer('the-second-agent-key-12345'))).toBe(200);
    await eventually(
      'the other replica refuses the old key',
      async () => (await statusOf(before, '/agent', bearer(old.BGC_AGENT_KEY))) === 401,
      1_000,
    );

    const again = await start(old);
    expect(await statusOf(again, '/agent', bearer(old.BGC_AGENT_KEY))).toBe(200);
  });

  it('may change places between audiences', async () => {
    const [one, two] = ['key-number-one-of-the-test', 'key-number-two-of-the-test'];
    await start({ BGC_AGENT_KEY: one, BGC_BOT_KEY: two });
    const swapped = await start({ BGC_AGENT_KEY: two, BGC_BOT_KEY: one });
    expect(await statusOf(swapped, '/agent', bearer(two))).toBe(200);
    expect(await statusOf(swapped, '/agent', bearer(one))).toBe(403);
    expect(await statusOf(swapped, '/bot', bearer(one))).toBe(200);
  });

  it('are stored as hashes with a readable start', async () => {
    const { app } = await start({ BGC_BOT_KEY: 'key-number-two-of-the-test' });
    const rows = await app
      .get(Database)
      .query<{ audience: string; prefix: string; hash: Buffer }>('SELECT * FROM api_keys');
    const { agent } = app.get(GeneratedKeys).keys;
    const prefixes = Object.fromEntries(rows.map(({ audience, prefix }) => [audience, prefix]));
    expect(prefixes).toMatchObject({ agent: agent!.slice(0, 18), bot: 'key-' });
    expect(rows.map(({ hash }) => hash.length)).toEqual([32, 32, 32]);
    expect(JSON.stringify(rows)).not.toContain(agent!.slice(18));
  });

  describe('decide what a request may do', () => {
    it('the app of the key is told to the route, without a database statement', async () => {
      const app = await start();
      const keys = app.app.get(GeneratedKeys).keys;
      const response = await app.send({ url: '/agent', headers: bearer(keys.agent) });
      expect(response.body).toMatchObject({ statements: 0 });
      const { appId } = response.body as { appId: string };
      expect(app.app.get(AppDirectory).byId(appId)).toMatchObject({
        name: 'default',
        locale: null,
      });
      expect(app.app.get(AppDirectory).localeOf(appId)).toBeUndefined();
      expect((await app.send({ url: '/bot', headers: bearer(keys.bot) })).body).toEqual({ appId });
    });

    it('each audience has its own routes, and a route without audience has none', async () => {
      const app = await start();
      const { agent, bot, admin } = app.app.get(GeneratedKeys).keys;
      const table = [
        ['/agent', 200, 403, 403],
        ['/bot', 403, 200, 403],
        ['/admin/v1/settings', 403, 403, 200],
        ['/forgotten', 403, 403, 403],
        ['/forgotten/open', 200, 200, 200],
        ['/nowhere', 404, 404, 404],
      ] as const;
      for (const [url, ...expected] of table) {
        const got = await Promise.all(
          [agent, bot, admin].map((key) => statusOf(app, url, bearer(key))),
        );
        expect([url, ...got]).toEqual([url, ...expected]);
      }
      expect(await statusOf(app, '/forgotten/open')).toBe(200);
      expect(await statusOf(app, '/nowhere')).toBe(404);
    });

    it('whatever is wrong with the header, the answer is the same 401', async () => {
      const app = await start();
      const { agent = '' } = app.app.get(GeneratedKeys).keys;
      const wrong = [
        undefined,
        '',
        'Bearer',
        'Bearer ',
        'Bearer unknown-key-of-nobody-12345',
        `Bearer ${agent}x`,
        `Bearer ${agent} ${agent}`,
        `Bearer ${agent},`,
        `Basic ${Buffer.from(`${agent}:`).toString('base64')}`,
        agent,
        `Bearer ${'x'.repeat(5_000)}`,
        'Bearer \u00ff\u00fe',
        'Bearer __proto__',
        'Bearer constructor',
      ];
      for (const authorization of wrong) {
        const headers: Record<string, string> =
          authorization === undefined ? {} : { authorization };
        for (const method of ['GET', 'POST']) {
          const response = await app.send({ method, url: '/agent', headers });
          expect([authorization, response.status]).toEqual([authorization, 401]);
          expect(response.headers.get('www-authenticate')).toBe('Bearer');
          expect(response.body).toMatchObject({
            code: 'unauthorized',
            detail: 'A valid key is needed: Authorization: Bearer <key>.',
          });
        }
      }
      expect(await statusOf(app, '/agent', { authorization: `bEARER  ${agent} ` })).toBe(200);
    });

    it('the key is asked for before the body is read', async () => {
      const app = await start();
      const json = { 'content-type': 'application/json' };
      const broken = { method: 'POST', url: '/agent', payload: '{', headers: json };
      expect((await app.send(broken)).status).toBe(401);
      const { agent } = app.app.get(GeneratedKeys).keys;
      const withKey = { ...broken, headers: { ...json, ...bearer(agent) } };
      expect((await app.send(withKey)).status).toBe(400);
    });
  });
});
