import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { barrier } from './support/barrier.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { scrape } from './support/metrics.js';
import { TestService } from './support/service.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';
import { hurry } from './support/webhook-app.js';
import {
  isSignedBy,
  loseAnswer,
  type ReceivedWebhook,
  status,
  WebhookReceiver,
} from './support/webhook-receiver.js';

const LEFT = 'SELECT event_deliveries.failures, event_deliveries.hand_outs FROM event_deliveries';
/** The waits of tries that failed are over. */
const DUE = `UPDATE event_deliveries SET due_at = now() - interval '1 ms' WHERE failures > 0 OR $1`;
/** The app has had its URL for longer than its oldest event is old. */
const OLD_APP = `
  UPDATE apps
  SET events_changed_at = now() - interval '26 hours', events_begun_at = now() - interval '26 hours'`;
const AGE = `
  WITH app AS (${OLD_APP})
  UPDATE event_deliveries SET trying_since = now() - interval '25 hours' WHERE event_id = $1`;
/** 1,200 more, which is more than one batch, like the first that waits, due in an hour, of long ago. */
const MULTIPLY = `
  WITH app AS (${OLD_APP}), more AS (
    INSERT INTO events (app_id, target_id, type, data)
    SELECT events.app_id, events.target_id, events.type, events.data
    FROM events JOIN event_deliveries ON event_deliveries.event_id = events.id, generate_series(1, 1200)
    RETURNING events.id, events.app_id)
  INSERT INTO event_deliveries (event_id, app_id, failures, due_at, trying_since)
  SELECT more.id, more.app_id, 9, now() + interval '1 hour', now() - interval '25 hours' FROM more`;
const TURN_ENDED = { types: ['turn.ended'] };

describe('events that are sent to the URL of an app', () => {
  let database: TestDatabase;
  let upstream: McpTestServer;
  let services: [TestService, TestService];
  let receiver: WebhookReceiver;
  let appPath: string;
  let secret: string;
  let engine: Engine;

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await McpTestServer.start();
    receiver = await WebhookReceiver.start();
    services = [await TestService.start({ database }), await TestService.start({ database })];
    for (const service of services) hurry(service);
    await services[0].register('test', upstream.url);
    const { body } = await services[0].admin.get('/admin/v1/apps');
    appPath = `/admin/v1/apps/${body.data[0].id}`;
    secret = (await send({})).delivery.secret as string;
  });

  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()));
    await upstream.stop();
    await receiver.stop();
    await database.drop();
  });

  beforeEach(async () => {
    await change(null);
    receiver.reset();
    engine = services[0].session();
  });

  async function change(events: object | null): Promise<any> {
    const answer = await services[0].admin.patch(appPath, { events });
    expect(answer.status).toBe(200);
    return answer.body;
  }

  /** From now on events that pass the filter are sent. */
  const send = (filter: object): Promise<any> => change({ url: receiver.url, ...filter });

  async function endATurn(): Promise<void> {
    await engine.startTurn('turn-1');
    await engine.endTurn('turn-1');
  }

  async function left(): Promise<{ failures: number; hand_outs: number }[]> {
    return services[0].sql(LEFT);
  }

  async function makeDue(): Promise<void> {
    await services[0].sql(DUE, [false]);
  }

  /** Resolves when the first event that came has failed so often. */
  async function failed(times: number): Promise<void> {
    await eventually(`it has failed ${times} times`, async () => {
      return (await left())[0]?.failures === times;
    });
  }

  async function allArrived(): Promise<void> {
    await eventually('nothing is left', async () => (await left()).length === 0);
  }

  /** By both replicas. */
  async function counted(): Promise<{ overtaken: number; givenUp: number }> {
    const figures = await Promise.all(services.map(({ url }) => scrape(url)));
    const sum = (name: string): number =>
      figures
        .flatMap((of) => [...of])
        .filter(([each]) => each.startsWith(name))
        .reduce((total, [, value]) => total + value, 0);
    return {
      overtaken: sum('bgc_event_webhooks_overtaken_total'),
      givenUp: sum('bgc_event_webhooks_given_up_total'),
    };
  }

  const typesOf = (webhooks: ReceivedWebhook[]): string[] =>
    [...webhooks]
      .sort((one, other) => Number(one.message.sequence) - Number(other.message.sequence))
      .map(({ message }) => message.type as string);

  it('tell the life of a call, signed, each with its place in the order', async () => {
    await send({});
    const { id } = await engine.callInBackground('echo', {}, { agentId: 'agent-1' });
    const [message] = await engine.messages(10);
    await engine.ack(message.id);
    const received = await receiver.until(4);
    expect(typesOf(received)).toEqual([
      'background_call.running',
      'background_call.completed',
      'message.pending',
      'message.delivered',
    ]);
    for (const webhook of received) {
      expect(isSignedBy(secret, webhook)).toBe(true);
      expect(webhook.message).toMatchObject({
        id: webhook.id,
        app: appPath.split('/').at(-1),
        target: { type: 'session', sessionId: engine.sessionId },
      });
    }
    const ended = received.find((each) => each.message.type === 'background_call.completed');
    expect(ended?.message).toEqual({
      id: `evt_${ended?.message.sequence}`,
      sequence: expect.any(Number),
      type: 'background_call.completed',
      app: expect.any(String),
      target: { type: 'session', sessionId: engine.sessionId },
      call: {
        ...{ id, server: { name: 'test', title: 'test' }, tool: 'echo' },
        ...{ agentId: 'agent-1', turnId: null },
      },
      data: expect.any(Object),
      createdAt: expect.any(String),
    });
    await allArrived();
    expect(receiver.received).toHaveLength(4);
  });

  it('are those that pass the filters', async () => {
    await send({ types: ['background_call.completed'], tools: ['test/echo'], agents: ['agent-1'] });
    await engine.callInBackground('echo', {}, { agentId: 'agent-2' });
    await engine.callInBackground('hello', {}, { agentId: 'agent-1' });
    await endATurn();
    const { id } = await engine.callInBackground('echo', {}, { agentId: 'agent-1' });
    const [webhook] = await receiver.until(1);
    expect(webhook?.message).toMatchObject({ type: 'background_call.completed', call: { id } });
    await allArrived();
    expect(receiver.received).toHaveLength(1);
  });

  it('come again with the same id and the same bytes until they are taken', async () => {
    await send(TURN_ENDED);
    receiver.answer(status(500), loseAnswer, status(302, { location: receiver.url }), status(200));
    await endATurn();
    for (let times = 1; times <= 3; times++) {
      await failed(times);
      await makeDue();
    }
    const received = await receiver.until(4);
    await allArrived();
    expect(new Set(received.map(({ id }) => id)).size).toBe(1);
    expect(new Set(received.map(({ raw }) => raw.toString('base64'))).size).toBe(1);
    expect(received.every((webhook) => isSignedBy(secret, webhook))).toBe(true);
  });

  it('wait for a receiver that is busy, which is no failure', async () => {
    await send(TURN_ENDED);
    receiver.answer(status(429, { 'retry-after': '3600' }));
    await endATurn();
    await receiver.until(1);
    await eventually('it waits', async () => {
      const [soon] = await services[0].sql(
        `${LEFT} WHERE event_deliveries.due_at > now() + interval '50 minutes'`,
      );
      return soon;
    });
    expect(await left()).toEqual([{ failures: 0, hand_outs: 1 }]);
    await services[0].sql(DUE, [true]);
    await receiver.until(2);
    await allArrived();
  });

  it('are not given up by their age when their receiver was busy', async () => {
    await send(TURN_ENDED);
    receiver.answer(status(500), status(429, { 'retry-after': '3600' }), status(500));
    await endATurn();
    await failed(1);
    await services[0].sql(AGE, [receiver.received[0]?.message.sequence]);
    await makeDue();
    await failed(0);
    await services[0].sql(DUE, [true]);
    await failed(1);
    await makeDue();
    await receiver.until(4);
    await allArrived();
  });

  it.each([204, 410, 500])('are settled by the last of their tries alone: %i', async (code) => {
    await send(TURN_ENDED);
    const late = barrier();
    receiver.answer(async (response) => {
      await late.opened;
      response.writeHead(code).end();
    }, status(500));
    const before = await counted();
    await endATurn();
    await receiver.until(1);
    await services[0].sql(DUE, [true]);
    await failed(1);
    late.open();
    await eventually('the late answer is looked at', async () => {
      return (await counted()).overtaken === before.overtaken + 1;
    });
    expect((await counted()).givenUp).toBe(before.givenUp);
    expect(await left()).toEqual([{ failures: 1, hand_outs: 2 }]);
    await makeDue();
    const [first, , third] = await receiver.until(3);
    expect(third?.id).toBe(first?.id);
    await allArrived();
  });

  it('are due at once at another URL', async () => {
    await send(TURN_ENDED);
    receiver.answer(status(429, { 'retry-after': '3600' }));
    await endATurn();
    await receiver.until(1);
    await change({ url: `${receiver.url}/other`, ...TURN_ENDED });
    await receiver.until(2);
    await allArrived();
  });

  describe('in a backlog of which a row is held', () => {
    let holder: Client;
    let held: number;

    beforeEach(async () => {
      await send(TURN_ENDED);
      receiver.answer(status(429, { 'retry-after': '3600' }));
      await endATurn();
      await receiver.until(1);
      await eventually('it waits', async () => {
        return (await services[0].sql(`${LEFT} WHERE due_at > now() + interval '50 minutes'`))[0];
      });
      await services[0].sql(MULTIPLY);
      holder = new Client({ connectionString: database.url });
      await holder.connect();
      await holder.query('BEGIN');
      const { rows } = await holder.query<{ event_id: string }>(
        'SELECT event_id FROM event_deliveries ORDER BY event_id DESC LIMIT 1 FOR UPDATE',
      );
      held = Number(rows[0]!.event_id);
    });

    afterEach(() => holder.end());

    it('do not hold up that the app wants none any more', async () => {
      await change(null);
      await eventually('the others are forgotten', async () => (await left()).length === 1);
      await holder.query('COMMIT');
      await allArrived();
      expect(receiver.received).toHaveLength(1);
    });

    it('are forgotten also when the app wants events again meanwhile', async () => {
      await change(null);
      await send(TURN_ENDED);
      await holder.query('COMMIT');
      await allArrived();
      expect(receiver.received).toHaveLength(1);
    });

    it('do not hold up that the URL is another one, at which their age begins anew', async () => {
      receiver.answer(status(500));
      await change({ url: `${receiver.url}/other`, ...TURN_ENDED });
      await eventually('the others arrive', async () => (await left()).length === 1, 60_000);
      await holder.query('COMMIT');
      await allArrived();
      const ids = new Set(receiver.received.map(({ id }) => id));
      expect(ids.has(`evt_${held}`)).toBe(true);
      expect(ids.size).toBe(1_201);
      // Of the old address one was busy, of the new one one failed: what was 25 hours old is not given up.
      expect(receiver.received).toHaveLength(1_203);
    });
  });

  it('do not hold each other up', async () => {
    await send(TURN_ENDED);
    receiver.answer(status(500));
    await endATurn();
    await failed(1);
    engine = services[1].session();
    await endATurn();
    const [first, second] = await receiver.until(2);
    expect(second?.id).not.toBe(first?.id);
    await makeDue();
    await receiver.until(3);
    await allArrived();
  });

  it('are given up when the receiver is gone', async () => {
    await send(TURN_ENDED);
    receiver.answer(status(410));
    await endATurn();
    await receiver.until(1);
    await allArrived();
  });

  it('are given up when they are as old as they may become', async () => {
    await send(TURN_ENDED);
    receiver.answerAlways(status(500));
    await endATurn();
    await failed(1);
    await services[0].sql(AGE, [receiver.received[0]?.message.sequence]);
    await makeDue();
    await allArrived();
  });

  it('are forgotten when the app wants none any more, and nothing is kept for an app without a URL', async () => {
    await send(TURN_ENDED);
    receiver.answerAlways(status(500));
    await endATurn();
    await failed(1);
    expect(await change(null)).toMatchObject({ events: null });
    await allArrived();
    await endATurn();
    expect(await left()).toEqual([]);
  });

  it.each([
    [{ url: 'ftp://x' }, '/events/url'],
    [{}, '/events/url'],
    [{ url: 'http://x', types: [] }, '/events/types'],
    [{ url: 'http://x', types: ['call.completed'] }, '/events/types'],
    [{ url: 'http://x', tools: ['echo'] }, '/events/tools'],
    [{ url: 'http://x', agents: ['a b'] }, '/events/agents'],
    [{ url: 'http://x', sessions: [] }, '/events/sessions'],
    [[], '/events'],
  ])('are refused as %j, with the field named', async (events, pointer) => {
    expect(await services[0].admin.patch(appPath, { events })).toMatchObject({
      status: 400,
      body: { errors: [{ pointer }] },
    });
  });
});
