import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { AppDirectory } from '../src/apps/app.directory.js';
import { Clock } from '../src/common/clock.js';
import { toPublicId } from '../src/common/ids.js';
import { Drain } from '../src/common/drain.js';
import { ChannelListener } from '../src/database/channel-listener.js';
import { MessageClaims } from '../src/delivery/message-claims.js';
import { WebhookDelivery } from '../src/delivery/webhook/webhook-delivery.js';
import { WebhookRelay } from '../src/delivery/webhook/webhook-relay.js';
import { SendTimes } from '../src/delivery/sending/send-times.js';
import { SendWindow } from '../src/delivery/sending/send-window.js';
import { barrier } from './support/barrier.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { PostgresProxy } from './support/postgres-proxy.js';
import { TestService } from './support/service.js';
import { ServiceProcess } from './support/service-process.js';
import { scrape } from './support/metrics.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';
import { endCallOf } from './support/told-target.js';
import { changeDelivery, hurry } from './support/webhook-app.js';
import { type Answer, saySilence, status, WebhookReceiver } from './support/webhook-receiver.js';
import { WebhookRows } from './support/webhook-rows.js';

const SESSION = 'session';

/** Answers so when the gate is opened. */
function gated(answer: Answer): { answer: Answer; open(): void } {
  const gate = barrier();
  return {
    open: () => gate.open(),
    answer: async (response, webhook) => {
      await gate.opened;
      await answer(response, webhook);
    },
  };
}

describe('webhooks', () => {
  let database: TestDatabase;
  let receiver: WebhookReceiver;
  let service: TestService;
  let rows: WebhookRows;
  const running = new Set<TestService>();
  /** What else a test has started. */
  const cleanUps: (() => Promise<unknown>)[] = [];

  beforeEach(async () => {
    database = await createTestDatabase();
    receiver = await WebhookReceiver.start();
    service = await start();
    rows = new WebhookRows(service, SESSION);
    await changeDelivery(service.admin, { mode: 'webhook', url: receiver.url });
  });
  afterEach(async () => {
    receiver.reset();
    for (const each of running) await stop(each);
    for (const cleanUp of cleanUps.splice(0)) await cleanUp();
    await receiver.stop();
    await database.drop();
  });

  const start = async (url = database.url): Promise<TestService> => {
    const started = await TestService.start({ database: { ...database, url } });
    hurry(started);
    running.add(started);
    return started;
  };
  const stop = async (of: TestService): Promise<void> => {
    if (running.delete(of)) await of.stop();
  };
  const appId = (): string => service.get(AppDirectory).all()[0]!.id;
  const endCall = (sessionId = SESSION, of = service): Promise<string> =>
    endCallOf(of, appId(), { type: 'session', sessionId });

  it('are shared by two replicas: each comes once, those of a session in order', async () => {
    const replica = await start();
    const gate = gated(status(204));
    receiver.answerAlways(gate.answer);
    const sessions = Array.from({ length: 40 }, (_, index) => `session-${index}`);
    const ended = new Map<string, string[]>();
    for (let round = 0; round < 3; round++)
      for (const [index, session] of sessions.entries()) {
        const callId = await endCall(session, index % 2 === 0 ? service : replica);
        ended.set(session, [...(ended.get(session) ?? []), toPublicId('bgc', callId)]);
      }
    await eventually('both send', () => receiver.open === 32);
    gate.open();
    await eventually('all are told', () => receiver.told.length >= 120);
    await eventually('nothing waits', async () => {
      const [left] = await service.sql<{ n: number }>(
        'SELECT count(*) AS n FROM targets WHERE undelivered_since IS NOT NULL',
      );
      return left!.n === 0;
    });
    expect(new Set(receiver.told).size).toBe(receiver.told.length);
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(receiver.received.length);
    for (const session of sessions) {
      const told = receiver.received
        .filter(({ message }) => message.target.sessionId === session)
        .flatMap(({ message }) => message.notifications as { callId: string }[]);
      expect(told.map(({ callId }) => callId)).toEqual(ended.get(session));
    }
  });

  it('of a killed process are sent again by another one, with the same bytes', async () => {
    const upstream = await McpTestServer.start();
    cleanUps.push(() => upstream.stop());
    await service.register('test', upstream.url);
    await stop(service);
    receiver.answer(saySilence);
    const doomed = await ServiceProcess.start({ DATABASE_URL: database.url });
    cleanUps.push(() => doomed.end('SIGKILL'));
    await doomed.session(SESSION).callInBackground('echo');
    await receiver.until(1);
    await doomed.end('SIGKILL');
    service = await start();
    rows = new WebhookRows(service, SESSION);
    const [hidden] = await service.sql<{ sec: number }>(
      `SELECT extract(epoch FROM hidden_until - now())::float8 AS sec FROM targets`,
    );
    expect(hidden!.sec).toBeLessThanOrEqual(25);
    await rows.waitIsOver();
    const [first, second] = await receiver.until(2);
    expect(second?.raw.equals(first!.raw)).toBe(true);
    expect(await rows.in('delivered')).toMatchObject({ attempts: 2, failures: 0 });
  });

  describe('that were overtaken by another try of the same message', () => {
    it.each([500, 410, 409, 204])('change nothing any more by their answer: %i', async (code) => {
      const [late, second] = [gated(status(code)), gated(status(204))];
      receiver.answer(late.answer, second.answer);
      await endCall();
      await receiver.until(1);
      await rows.waitIsOver();
      await receiver.until(2);
      late.open();
      await eventually('the first is answered', () => receiver.open === 1);
      await expectUnsettled();
      second.open();
      expect(await rows.in('delivered')).toMatchObject({ attempts: 2, dead_reason: null });
      expect(await rows.tries()).toMatchObject([{ number: 2, outcome: 'delivered' }]);
    });

    it('change nothing either when a busy answer has taken a try back', async () => {
      const late = gated(status(410));
      receiver.answer(late.answer, status(409, { 'retry-after': '60' }));
      await endCall();
      await receiver.until(1);
      await rows.waitIsOver();
      await rows.waiting(1);
      const third = gated(status(204));
      receiver.answer(third.answer);
      await rows.waitIsOver();
      await receiver.until(3);
      late.open();
      await eventually('the first is answered', () => receiver.open === 1);
      await expectUnsettled();
      third.open();
      await rows.in('delivered');
    });

    /** Resolves when this process has looked at the late answer. */
    async function expectUnsettled(): Promise<void> {
      await eventually('the late answer is looked at', async () => {
        const figures = await scrape(service.url);
        return figures.get('bgc_webhooks_overtaken_total') === 1;
      });
      expect(await rows.message()).toMatchObject({ state: 'pending', next_attempt_at: null });
    }
  });

  it('of a process that was held up between the claim and the send are not sent late', async () => {
    await stopSending(service);
    await endCall();
    const app = service.get(AppDirectory).all()[0]!;
    const [message] = await service.get(MessageClaims).claimOfApp(app.id, 1, 60);
    const passed = Object.assign(new SendTimes(), { sendMs: 0 });
    const window = new SendWindow(service.get(Clock), passed);
    const { signal } = new AbortController();
    await service.get(WebhookDelivery).deliver({ app, message: message!, window }, signal);
    expect(receiver.received).toEqual([]);
    await start();
    const [webhook] = await receiver.until(1);
    expect(await rows.in('delivered')).toMatchObject({ attempts: 2, failures: 0 });
    expect(await rows.tries()).toMatchObject([
      { outcome: 'aborted', error: expect.stringContaining('held up') },
      { outcome: 'delivered' },
    ]);
    expect(receiver.received).toEqual([webhook]);
  });

  describe('of a process that leaves', () => {
    it('may be answered within the drain time, and no other one is begun', async () => {
      const gate = gated(status(204));
      receiver.answer(gate.answer);
      await endCall();
      await receiver.until(1);
      const stopping = stop(service);
      await eventually('it leaves', () => service.get(Drain).isDraining);
      const told = barrier();
      service.get(ChannelListener).on('bgc_delivery_ready', told.open);
      await endCall('another');
      await told.opened;
      gate.open();
      await stopping;
      expect(receiver.received).toHaveLength(1);
      const next = await start();
      expect(await new WebhookRows(next, SESSION).message()).toMatchObject({
        ...{ state: 'delivered', attempts: 1 },
      });
      expect(await new WebhookRows(next, 'another').in('delivered')).toMatchObject({
        hand_outs: 1,
      });
    });

    it('are broken off after that, and sent by another one at once', async () => {
      receiver.answer(saySilence);
      await endCall();
      await receiver.until(1);
      const other = await start();
      await stop(service);
      rows = new WebhookRows(other, SESSION);
      const [first, second] = await receiver.until(2);
      expect(second?.raw.equals(first!.raw)).toBe(true);
      expect(await rows.in('delivered')).toMatchObject({ attempts: 2, failures: 0 });
      expect((await rows.tries())[0]).toMatchObject({
        ...{ outcome: 'aborted', http_status: null },
        error: expect.stringContaining('leaving'),
      });
      expect(second!.atMs - first!.atMs).toBeLessThan(10_000);
    });
  });

  it('that were answered while the database is away are settled when it is back, and not sent again', async () => {
    const proxy = await PostgresProxy.start(database.url);
    cleanUps.push(() => proxy.stop());
    await changeDelivery(service.admin, { mode: 'pull' });
    const behind = await start(proxy.url);
    await endCall(SESSION, service);
    receiver.answer((response, webhook) => {
      proxy.cut();
      return status(204)(response, webhook);
    });
    await stopSending(service);
    await changeDelivery(service.admin, { mode: 'webhook' });
    await receiver.until(1);
    await eventually('the answer could not be written', async () => {
      const figures = await scrape(behind.url);
      return figures.get('bgc_webhook_duration_seconds_count{outcome="delivered"}') === 1;
    });
    expect(await rows.message()).toMatchObject({ state: 'pending' });
    proxy.restore();
    expect(await rows.in('delivered')).toMatchObject({ attempts: 1 });
    expect(receiver.received).toHaveLength(1);
  });

  /** Leaves the sending to the other replica. */
  const stopSending = (of: TestService): Promise<void> => of.get(WebhookRelay).stop();
});
