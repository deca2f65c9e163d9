import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AppDirectory } from '../src/apps/app.directory.js';
import { DeliveryWaiters } from '../src/delivery/pull/delivery-waiters.js';
import { barrier } from './support/barrier.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { TestService } from './support/service.js';
import { changeDelivery, rotateSecret, testDelivery } from './support/webhook-app.js';
import { useWebhooks } from './support/webhook-fixture.js';
import { isSignedBy, status, WebhookReceiver } from './support/webhook-receiver.js';
import { WebhookRows } from './support/webhook-rows.js';

let service: TestService;
let receiver: WebhookReceiver;
let engine: Engine;
let rows: WebhookRows;
let secret: string;
useWebhooks((fresh) => ({ service, receiver, engine, rows, secret } = fresh));

const pulls = (): Promise<unknown> => changeDelivery(service.admin, { mode: 'pull' });
const sends = (): Promise<unknown> => changeDelivery(service.admin, { mode: 'webhook' });
const path = (): string => `/v1/sessions/${engine.sessionId}/messages`;
const polledText = async (): Promise<string> => (await service.agent.get(path())).text;

describe('an app with a webhook', () => {
  it('is told that there is nothing to poll for', async () => {
    for (const url of [path(), '/v1/messages?wait=30'])
      expect(await service.agent.get(url)).toMatchObject({
        status: 409,
        body: { code: 'delivery_by_webhook', detail: expect.stringContaining('delivery.mode') },
      });
  });

  it('ends a poll that began before, and sends what it was waiting for', async () => {
    await pulls();
    const poll = engine.messages(30);
    await eventually('the poll waits', () => service.get(DeliveryWaiters).size > 0);
    await sends();
    await engine.callInBackground('echo');
    expect(await poll).toEqual([]);
    await receiver.until(1);
  });
});

describe('a message that is out by pull when the app gets a webhook', () => {
  it('goes out with the same id and the same bytes when its visibility is over', async () => {
    await pulls();
    await engine.callInBackground('echo');
    await engine.messages(10);
    const { id, body } = await rows.message();
    await sends();
    expect(await rows.message()).toMatchObject({ id, attempts: 1, next_attempt_at: null });
    await rows.waitIsOver();
    const [webhook] = await receiver.until(1);
    expect(webhook?.raw.toString()).toBe(body);
    expect(await rows.in('delivered')).toMatchObject({ id, attempts: 2 });
  });

  it('stays hidden until then', async () => {
    await pulls();
    await engine.callInBackground('echo');
    await engine.messages(10);
    const hidden = (): Promise<unknown> =>
      service.sql(`SELECT 1 FROM targets WHERE session_id = $1 AND hidden_until > now()`, [
        engine.sessionId,
      ]);
    await sends();
    expect(await hidden()).toHaveLength(1);
  });

  it('can still be acknowledged, also when it waits for another try', async () => {
    await pulls();
    const { id: first } = await engine.callInBackground('echo');
    const [message] = await engine.messages(10);
    await sends();
    receiver.answer(status(500));
    await rows.waitIsOver();
    await rows.waiting(1);
    expect(await engine.ack(message.id)).toMatchObject({
      status: 200,
      body: { state: 'delivered', attempts: 2 },
    });
    const { id: second } = await engine.callInBackground('echo');
    await receiver.until(2);
    expect(receiver.told).toEqual([first, second]);
  });
});

describe('a message that waits for another try', () => {
  it('can be polled at once when the app pulls', async () => {
    receiver.answer(status(503, { 'retry-after': '3600' }));
    await engine.callInBackground('echo');
    const { body } = await rows.waiting(1);
    await pulls();
    expect(await polledText()).toBe(`{"data":[${body}]}`);
    expect(await rows.message()).toMatchObject({ attempts: 1, hand_outs: 2 });
  });

  it('goes out at once, with its age begun anew, when the URL is another one', async () => {
    receiver.answer(status(500));
    await engine.callInBackground('echo');
    await rows.waiting(1);
    await rows.age(99);
    await service.sql(`UPDATE targets SET hidden_until = now() + interval '1 hour'
      WHERE hidden_until IS NOT NULL`);
    receiver.answer(status(500));
    await changeDelivery(service.admin, { url: `${receiver.url}?other` });
    await receiver.until(2);
    expect(await rows.waiting(2)).toMatchObject({ state: 'pending', failures: 1 });
  });

  it('goes on waiting when something else of the app is changed', async () => {
    receiver.answer(status(503, { 'retry-after': '3600' }));
    await engine.callInBackground('echo');
    await rows.waiting(1);
    await changeDelivery(service.admin, { mode: 'webhook', url: receiver.url });
    await rotateSecret(service.admin);
    expect((await rows.message()).waitMs).toBeGreaterThan(3_000_000);
  });
});

describe('a webhook that is under way when the app changes to pull', () => {
  it.each([500, 410, 409])(
    'cannot be polled before it is answered, and then at once: %i',
    async (code) => {
      const gate = barrier();
      receiver.answer(async (response, webhook) => {
        await gate.opened;
        await status(code)(response, webhook);
      });
      await engine.callInBackground('echo');
      const [webhook] = await receiver.until(1);
      await pulls();
      expect(await engine.messages()).toEqual([]);
      const poll = engine.messages(10);
      gate.open();
      expect(await poll).toEqual([webhook?.message]);
      expect(receiver.received).toHaveLength(1);
    },
  );

  it('is delivered when it is taken', async () => {
    const gate = barrier();
    receiver.answer(async (response, webhook) => {
      await gate.opened;
      await status(200)(response, webhook);
    });
    await engine.callInBackground('echo');
    await receiver.until(1);
    await pulls();
    gate.open();
    await rows.in('delivered');
    expect(await engine.messages()).toEqual([]);
  });
});

describe('a test delivery', () => {
  it('is a signed webhook of its own kind, which is not kept', async () => {
    const messages = async (): Promise<unknown> => service.sql('SELECT count(*) FROM messages');
    const before = await messages();
    expect(await testDelivery(service.admin)).toEqual({
      ...{ delivered: true, status: 204, error: null },
      durationMs: expect.any(Number),
    });
    const [webhook] = receiver.received;
    expect(webhook?.message).toEqual({
      id: webhook?.id,
      kind: 'test',
      text: expect.stringContaining('test'),
      createdAt: expect.any(String),
    });
    expect(isSignedBy(secret, webhook!)).toBe(true);
    expect(await messages()).toEqual(before);
  });

  it.each<[string, number, string]>([
    ['an error', 500, 'HTTP 500'],
    ['busy', 409, 'HTTP 409'],
    ['a redirect', 302, 'HTTP 302: a redirect to nowhere is not followed'],
  ])('tells that the answer was %s', async (_, code, error) => {
    receiver.answer(status(code));
    const test = await testDelivery(service.admin);
    expect(test).toMatchObject({ delivered: false, status: code, error });
  });

  it('tells that nobody listens', async () => {
    const closed = await WebhookReceiver.start();
    const { url } = closed;
    await closed.stop();
    await changeDelivery(service.admin, { url });
    expect(await testDelivery(service.admin)).toMatchObject({
      ...{ delivered: false, status: null },
      error: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('is refused while the app pulls', async () => {
    await pulls();
    expect(await testDelivery(service.admin)).toMatchObject({
      ...{ status: 409, code: 'conflict' },
      errors: [{ pointer: '/delivery/mode', detail: 'is pull: change the app first' }],
    });
  });
});

describe('without the key of its secret', () => {
  it('an app sends nothing, and goes on when it gets a new one', async () => {
    await service.sql(`UPDATE apps SET webhook_secret = webhook_secret || '{"key": "lost"}'`);
    await service.get(AppDirectory).refresh();
    await engine.callInBackground('echo');
    await rows.waiting(1);
    expect((await rows.tries())[0]).toMatchObject({
      ...{ outcome: 'failed', http_status: null },
      error: `The webhook can't be signed: its key "lost" is not among BGC_SECRETS_KEYS.`,
    });
    expect(receiver.received).toEqual([]);
    const fresh = await rotateSecret(service.admin);
    await rows.waitIsOver();
    const [webhook] = await receiver.until(1);
    expect(isSignedBy(fresh, webhook!)).toBe(true);
  });
});

describe('a webhook to an address that is not allowed', () => {
  let strict: TestService;
  let upstream: McpTestServer;

  beforeAll(async () => {
    upstream = await McpTestServer.start();
    strict = await TestService.start({ env: { BGC_OUTBOUND_ALLOW: '192.0.2.1' } });
  });
  afterAll(async () => {
    await strict.stop();
    await upstream.stop();
  });

  it.each([
    ['loopback', (url: string) => url],
    ['a name of it', (url: string) => url.replace('127.0.0.1', 'localhost')],
    ['the metadata service', () => 'http://169.254.169.254/latest/meta-data'],
  ])('is not sent: %s', async (_, urlOf) => {
    const url = urlOf(receiver.url);
    await changeDelivery(strict.admin, { mode: 'webhook', url });
    const error = `${new URL(url).hostname} is not a public address, and BGC_OUTBOUND_ALLOW does not name it`;
    expect(await testDelivery(strict.admin)).toMatchObject({
      delivered: false,
      status: null,
      error,
    });
    expect(receiver.received).toEqual([]);
  });

  it('is tried again like any that fails', async () => {
    await changeDelivery(strict.admin, { mode: 'webhook', url: receiver.url });
    await strict.register('test', upstream.url);
    const session = strict.session();
    await session.callInBackground('echo');
    const { state } = await new WebhookRows(strict, session.sessionId).waiting(1);
    expect([state, receiver.received]).toEqual(['pending', []]);
  });
});
