import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Settings } from '../src/settings/settings.js';
import { DEFAULT_SETTINGS } from '../src/settings/settings-tree.js';
import { type BaseApp, startBaseApp } from './support/base-app.js';
import { eventually } from './support/eventually.js';
import type { TestResponse } from './support/http-client.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const ADMIN_KEY = 'admin-key-of-the-settings-test';
const asAdmin = { authorization: `Bearer ${ADMIN_KEY}` };
const URL = '/admin/v1/settings';

describe('runtime settings', () => {
  let database: TestDatabase;
  let replicas: BaseApp[];
  const start = (): Promise<BaseApp> =>
    startBaseApp({
      DATABASE_URL: database.url,
      BGC_ADMIN_KEY: ADMIN_KEY,
      BGC_AGENT_KEY: 'agent-key-of-the-settings-test',
      BGC_BOT_KEY: 'bot-key-of-the-settings-test',
    });

  beforeAll(async () => {
    database = await createTestDatabase();
    replicas = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
    await database.drop();
  });
  beforeEach(async () => {
    expect((await patch(DEFAULT_SETTINGS)).status).toBe(200);
  });

  const get = (replica = 0): Promise<TestResponse> =>
    replicas[replica]!.send({ url: URL, headers: asAdmin });
  const patch = (json: unknown, replica = 0): Promise<TestResponse> =>
    replicas[replica]!.send({ method: 'PATCH', url: URL, headers: asAdmin, json });

  it('are the defaults on a new database', async () => {
    expect((await get()).body).toEqual(DEFAULT_SETTINGS);
  });

  it('merge a change, answer the whole tree and hold at once', async () => {
    const response = await patch({ foreground: { timeoutSec: 0.05 }, turns: {} });
    expect(response.body).toEqual({
      ...DEFAULT_SETTINGS,
      foreground: { ...DEFAULT_SETTINGS.foreground, timeoutSec: 0.05 },
    });
    expect(replicas[0]!.app.get(Settings).current.foreground.timeoutSec).toBe(0.05);
    expect((await get()).body).toEqual(response.body);
  });

  it('hold on another replica within a second', async () => {
    await patch({ backgroundCalls: { autoAfterSec: 3 } });
    const other = replicas[1]!.app.get(Settings);
    await eventually(
      'the other replica follows',
      () => other.current.backgroundCalls.autoAfterSec === 3,
      1_000,
    );
  });

  it('take null where null means off, and stay so until changed', async () => {
    await patch({ backgroundCalls: { autoAfterSec: null, maxRunning: 5 } });
    const response = await patch({ backgroundCalls: { maxRunning: null } });
    expect(response.body).toMatchObject({
      backgroundCalls: { autoAfterSec: null, maxRunning: null },
    });
  });

  it('keep both of two changes that are made at the same time on two replicas', async () => {
    for (let round = 1; round <= 10; round++) {
      await Promise.all([
        patch({ turns: { idleTimeoutSec: round } }, 0),
        patch({ delivery: { visibilitySec: round } }, 1),
      ]);
      await replicas[0]!.app.get(Settings).update({});
      expect((await get()).body).toMatchObject({
        turns: { idleTimeoutSec: round },
        delivery: { visibilitySec: round },
      });
    }
  });

  it('survive a restart', async () => {
    await patch({ results: { inlineChars: 10 } });
    const restarted = await start();
    expect(restarted.app.get(Settings).current.results.inlineChars).toBe(10);
    await restarted.close();
  });

  it('accept an empty change', async () => {
    expect((await patch({})).body).toEqual(DEFAULT_SETTINGS);
  });

  it.each([
    [
      '/foreground/timeoutSec',
      { foreground: { timeoutSec: 0.04 } },
      'a number from 0.05 to 2145600',
    ],
    [
      '/foreground/timeoutSec',
      { foreground: { timeoutSec: 2_145_601 } },
      'a number from 0.05 to 2145600',
    ],
    [
      '/foreground/timeoutSec',
      { foreground: { timeoutSec: '5' } },
      'a number from 0.05 to 2145600',
    ],
    [
      '/foreground/timeoutSec',
      { foreground: { timeoutSec: null } },
      'a number from 0.05 to 2145600',
    ],
    [
      '/foreground/timeoutSec',
      { foreground: { timeoutSec: [5] } },
      'a number from 0.05 to 2145600',
    ],
    [
      '/foreground/onClientTimeout',
      { foreground: { onClientTimeout: 'x' } },
      'one of: background, cancel',
    ],
    [
      '/backgroundCalls/onLimit',
      { backgroundCalls: { onLimit: 'drop' } },
      'one of: wait, queue, reject',
    ],
    [
      '/backgroundCalls/autoAfterSec',
      { backgroundCalls: { autoAfterSec: 0 } },
      'a number from 0.05 to 2145600, or null',
    ],
    ['/backgroundCalls/maxHours', { backgroundCalls: { maxHours: 0 } }, 'a number above 0 to 596'],
    [
      '/backgroundCalls/maxHours',
      { backgroundCalls: { maxHours: 597 } },
      'a number above 0 to 596',
    ],
    [
      '/backgroundCalls/maxHours',
      { backgroundCalls: { maxHours: null } },
      'a number above 0 to 596',
    ],
    [
      '/backgroundCalls/maxPerTarget',
      { backgroundCalls: { maxPerTarget: 1.5 } },
      'a whole number from 1 to 1000000',
    ],
    [
      '/backgroundCalls/maxPerTarget',
      { backgroundCalls: { maxPerTarget: 0 } },
      'a whole number from 1 to 1000000',
    ],
    ['/results/maxBytes', { results: { maxBytes: true } }, 'a whole number from 1 to 268435456'],
    ['/retention/days', { retention: { days: -1 } }, 'a number above 0 to 3650'],
    ['/messages/locale', { messages: { locale: 'fr' } }, 'one of: zh-CN, en'],
    ['/messages', { messages: null }, 'an object'],
    ['/messages', { messages: [] }, 'an object'],
    ['/messages', { messages: 'en' }, 'an object'],
  ])('refuse a wrong value at %s: %j', async (pointer, json, allowed) => {
    const response = await patch(json);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer, detail: `must be ${allowed}` }],
    });
    expect((await get()).body).toEqual(DEFAULT_SETTINGS);
  });

  it.each([
    ['/colour', { colour: 1 }],
    ['/turns/colour', { turns: { colour: 1 } }],
    ['/turns/constructor', { turns: { constructor: 1 } }],
  ])('refuse an unknown field at %s', async (pointer, json) => {
    const response = await patch(json);
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ errors: [{ pointer, detail: 'is not a known field' }] });
  });

  it('refuse a number that JSON can write but nothing can hold', async () => {
    const response = await replicas[0]!.send({
      method: 'PATCH',
      url: URL,
      headers: { ...asAdmin, 'content-type': 'application/json' },
      payload: '{"turns":{"idleTimeoutSec":1e999}}',
    });
    expect(response.body).toMatchObject({ errors: [{ pointer: '/turns/idleTimeoutSec' }] });
  });

  it('are for administrators only', async () => {
    const headers = { authorization: 'Bearer agent-key-of-the-settings-test' };
    expect((await replicas[0]!.send({ url: URL, headers })).status).toBe(403);
    expect((await replicas[0]!.send({ url: URL })).status).toBe(401);
  });
});
