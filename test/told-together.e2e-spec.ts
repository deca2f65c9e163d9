import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MAX_NOTIFICATIONS, MAX_TEXT_BYTES } from '../src/delivery/texts/call-message.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { textResult } from './support/mcp-tools.js';
import { TestService } from './support/service.js';
import { changeDelivery, hurry } from './support/webhook-app.js';
import { status, WebhookReceiver } from './support/webhook-receiver.js';

const CALLS = 200;
/** The later half makes messages reach their limit in bytes before that in number. */
const LONG_TEXT = '一行文字\n'.repeat(400);
const TEN = Array.from({ length: 10 }, (_, index) => `gate-${index}`);

interface Told {
  id: string;
  text: string;
  notifications: { callId: string; status: string }[];
}

describe('calls of one session that end together', () => {
  let upstream: McpTestServer;
  let service: TestService;
  let engine: Engine;

  beforeAll(async () => {
    upstream = await McpTestServer.start({
      tools: { say: ({ text }) => textResult(String(text)) },
    });
    service = await TestService.start();
    hurry(service);
    await service.register('test', upstream.url);
    await service.settings({ backgroundCalls: { maxPerTarget: 300 } });
  });
  beforeEach(() => {
    engine = service.session();
    upstream.forgetCalls();
  });
  afterAll(async () => {
    await service?.stop();
    await upstream.stop();
  });

  const callsOf = (messages: Told[]): string[] =>
    messages.flatMap(({ notifications }) => notifications.map(({ callId }) => callId));

  it('are all told at the end of a turn that goes on and on, in order, in bounded messages', async () => {
    const ended: string[] = [];
    await engine.startTurn('busy');
    for (let index = 0; index < CALLS; index++) {
      const text = index < CALLS / 2 ? `result ${index}` : `result ${index} ${LONG_TEXT}`;
      const { id } = await engine.callInBackground('say', { text });
      expect((await engine.get(id, 10)).status).toBe('completed');
      ended.push(id);
      const touched = await engine.touchTurn('busy');
      expect(touched.body).toMatchObject({ running: true });
      expect(await engine.messages()).toEqual([]);
    }
    await engine.endTurn('busy');
    const messages = (await engine.receive(ended)) as Told[];
    expect(callsOf(messages)).toEqual(ended);
    for (const { text, notifications } of messages) {
      expect(notifications.length).toBeLessThanOrEqual(MAX_NOTIFICATIONS);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_TEXT_BYTES);
    }
    const sizes = messages.map(({ notifications }) => notifications.length);
    expect(sizes.slice(0, 5)).toEqual([20, 20, 20, 20, 20]);
    expect(messages.length).toBeLessThan(20);
    expect(await engine.messages()).toEqual([]);
    expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length);
  }, 120_000);

  it('are ten, and an engine that works on each message in a turn has three at most', async () => {
    const ids = await tenAtTheirGates();
    const poll = engine.messages(20) as Promise<Told[]>;
    for (const name of TEN) upstream.release(name);
    const [first] = await poll;
    await engine.ack(first!.id, { turnId: 'woken' });
    await allEnded(ids);
    expect(await engine.messages()).toEqual([]);
    await engine.endTurn('woken');
    const rest = ids.filter((id) => !callsOf([first!]).includes(id));
    const messages = [first!, ...((await engine.receive(rest)) as Told[])];
    expect(callsOf(messages).sort()).toEqual([...ids].sort());
    expect(messages.length).toBeLessThanOrEqual(3);
  });

  it('are ten, and one that asks again at once has each once', async () => {
    const ids = await tenAtTheirGates();
    const received = engine.receive(ids) as Promise<Told[]>;
    for (const name of TEN) upstream.release(name);
    expect(callsOf(await received).sort()).toEqual([...ids].sort());
    expect(await engine.messages()).toEqual([]);
  });

  it('are ten, and a webhook that opens a turn gets three at most', async () => {
    const receiver = await WebhookReceiver.start();
    receiver.answer(status(200, {}, { turnId: 'woken' }));
    await changeDelivery(service.admin, { mode: 'webhook', url: receiver.url });
    const ids = await tenAtTheirGates();
    for (const name of TEN) upstream.release(name);
    await receiver.until(1);
    await allEnded(ids);
    await engine.endTurn('woken');
    await eventually('all are told', () => receiver.told.length >= ids.length);
    expect([...receiver.told].sort()).toEqual([...ids].sort());
    expect(receiver.received.length).toBeLessThanOrEqual(3);
    await changeDelivery(service.admin, { mode: 'pull' });
    await receiver.stop();
  });

  async function allEnded(ids: string[]): Promise<void> {
    for (const id of ids) expect((await engine.get(id, 10)).status).toBe('completed');
  }

  async function tenAtTheirGates(): Promise<string[]> {
    const ids = [];
    for (const name of TEN) ids.push((await engine.callInBackground('gate', { name })).id);
    await upstream.untilCalled(10);
    return ids;
  }
});
