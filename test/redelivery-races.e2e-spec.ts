import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { ApiResponse } from './support/api.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { HeldTarget } from './support/held-target.js';
import { McpTestServer } from './support/mcp-server.js';
import { MessageAdmin } from './support/message-admin.js';
import { TestService } from './support/service.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';
import { changeDelivery, hurry } from './support/webhook-app.js';
import { status, WebhookReceiver } from './support/webhook-receiver.js';
import { WebhookRows } from './support/webhook-rows.js';

const REFUSED = { status: 409, body: { code: 'message_delivered' } };

/** Two replicas; who comes first is decided by the order in which they wait for the session's lock. */
describe('what happens to a message at once, on two replicas', () => {
  let database: TestDatabase;
  let upstream: McpTestServer;
  let here: TestService;
  let there: TestService;
  let engine: Engine;
  let adminHere: MessageAdmin;
  let adminThere: MessageAdmin;
  let rows: WebhookRows;

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await McpTestServer.start();
    here = await TestService.start({ database });
    there = await TestService.start({ database });
    for (const service of [here, there]) hurry(service);
    adminHere = new MessageAdmin(here.admin);
    adminThere = new MessageAdmin(there.admin);
    await here.register('test', upstream.url);
  });
  beforeEach(() => {
    engine = here.session();
    rows = new WebhookRows(here, engine.sessionId);
  });
  afterAll(async () => {
    await Promise.all([here?.stop(), there?.stop()]);
    await upstream.stop();
    await database.drop();
  });

  const hold = (): Promise<HeldTarget> => HeldTarget.hold(database.url, engine.sessionId);

  async function endedCall(): Promise<string> {
    const { id } = await engine.callInBackground('echo');
    await engine.get(id, 10);
    return id;
  }

  /** A message that was handed out by pull. */
  async function takenMessage(): Promise<{ id: string }> {
    await endedCall();
    const [message] = await engine.messages();
    return message as { id: string };
  }

  /** Both wait for the lock, in this order; answers what they got. */
  async function inOrder(
    first: () => Promise<ApiResponse>,
    second: () => Promise<ApiResponse>,
  ): Promise<[ApiResponse, ApiResponse]> {
    const held = await hold();
    const queued = [await held.queue(first), await held.queue(second)] as const;
    await held.release();
    return [await queued[0].answer, await queued[1].answer];
  }

  const eventsOf = async (type: string): Promise<number> =>
    (await rows.events()).filter((one) => one === type).length;

  describe('by pull', () => {
    it('a discard after the acknowledgement is refused', async () => {
      const { id } = await takenMessage();
      const [acked, discarded] = await inOrder(
        () => engine.ack(id),
        () => adminThere.discard(id),
      );
      expect(acked.body).toMatchObject({ state: 'delivered' });
      expect(discarded).toMatchObject(REFUSED);
      expect(await rows.events()).not.toContain('message.discarded');
    });

    it('an acknowledgement after the discard changes nothing, and opens no turn', async () => {
      const { id } = await takenMessage();
      await endedCall();
      const [discarded, acked] = await inOrder(
        () => adminThere.discard(id),
        () => engine.ack(id, { turnId: 'late' }),
      );
      expect(discarded.body).toMatchObject({ state: 'discarded' });
      expect(acked).toMatchObject({ status: 200, body: { state: 'discarded', deliveredAt: null } });
      expect(await rows.events()).not.toContain('message.delivered');
      expect(await engine.messages()).toHaveLength(1);
    });

    it('two discards are one', async () => {
      const { id } = await takenMessage();
      for (const { status, body } of await inOrder(
        () => adminHere.discard(id),
        () => adminThere.discard(id),
      ))
        expect([status, body.state]).toEqual([200, 'discarded']);
      expect(await eventsOf('message.discarded')).toBe(1);
    });

    it('a redelivery before the acknowledgement leaves it what it was', async () => {
      const { id } = await takenMessage();
      const [again, acked] = await inOrder(
        () => adminThere.redeliver(id),
        () => engine.ack(id),
      );
      expect(again.body).toMatchObject({ state: 'pending', redeliveredAt: null });
      expect(acked.body).toMatchObject({ state: 'delivered' });
      expect(await engine.messages()).toEqual([]);
      expect(await eventsOf('message.pending')).toBe(1);
    });

    it('a redelivery after the acknowledgement brings the message once more, as it was', async () => {
      const message = await takenMessage();
      const [acked, again] = await inOrder(
        () => engine.ack(message.id),
        () => adminThere.redeliver(message.id),
      );
      expect(acked.body).toMatchObject({ state: 'delivered' });
      expect(again.body).toMatchObject({ state: 'pending', deliveredAt: acked.body.deliveredAt });
      expect(await engine.messages()).toEqual([message]);
      expect((await engine.ack(message.id)).body).toMatchObject({
        state: 'delivered',
        attempts: 2,
      });
    });

    it('two redeliveries are one', async () => {
      const message = await takenMessage();
      await engine.ack(message.id);
      for (const { status, body } of await inOrder(
        () => adminHere.redeliver(message.id),
        () => adminThere.redeliver(message.id),
      ))
        expect([status, body.state]).toEqual([200, 'pending']);
      expect(await eventsOf('message.pending')).toBe(2);
      expect(await engine.messages()).toEqual([message]);
      expect(await engine.messages()).toEqual([]);
    });

    it('a redelivery that meets the claim of a new message is held back behind it', async () => {
      const old = await takenMessage();
      await engine.ack(old.id);
      const callId = await endedCall();
      const held = await hold();
      const claimed = await held.queue(() => engine.messages());
      const again = await held.queue(() => adminThere.redeliver(old.id));
      await held.release();
      const [fresh] = await claimed.answer;
      expect(fresh).toMatchObject({ notifications: [{ callId }] });
      expect((await again.answer).body).toMatchObject({ state: 'pending', heldBack: true });
      expect(await engine.messages()).toEqual([]);
      await engine.ack(fresh.id);
      expect(await engine.messages()).toEqual([old]);
    });

    it('a redelivery that comes before the claim of a new message goes first', async () => {
      const old = await takenMessage();
      await engine.ack(old.id);
      const callId = await endedCall();
      const held = await hold();
      const again = await held.queue(() => adminThere.redeliver(old.id));
      const claimed = await held.queue(() => engine.messages());
      await held.release();
      expect((await again.answer).body).toMatchObject({ heldBack: false });
      expect(await claimed.answer).toEqual([old]);
      await engine.ack(old.id);
      expect(await engine.messages()).toMatchObject([{ notifications: [{ callId }] }]);
    });

    it('is told to every replica: that something is sent again, and that the next one may go on', async () => {
      const old = await takenMessage();
      await engine.ack(old.id);
      const listener = new Client({ connectionString: database.url });
      await listener.connect();
      const heard: (string | undefined)[] = [];
      listener.on('notification', ({ payload }) => heard.push(payload));
      await listener.query('LISTEN bgc_delivery_ready');
      const hears = (count: number): Promise<boolean> =>
        eventually(`${count} times`, async () => {
          await listener.query('SELECT');
          return heard.length === count && heard.every((key) => key?.includes(engine.sessionId));
        });
      await adminThere.redeliver(old.id);
      await hears(1);
      const callId = await endedCall();
      await hears(2);
      await adminThere.discard(old.id);
      await hears(3);
      await listener.end();
      await engine.receive([callId]);
    });

    it('a late acknowledgement of what is held back disturbs nothing that is out', async () => {
      const old = await takenMessage();
      await engine.ack(old.id);
      const out = await takenMessage();
      expect((await adminThere.redeliver(old.id)).body).toMatchObject({ heldBack: true });
      expect((await engine.ack(old.id)).body).toMatchObject({ state: 'delivered' });
      expect(await engine.messages()).toEqual([]);
      expect((await engine.ack(out.id)).body).toMatchObject({ state: 'delivered' });
      expect(await engine.messages()).toEqual([]);
    });
  });

  describe('by webhook', () => {
    let receiver: WebhookReceiver;

    beforeAll(async () => {
      receiver = await WebhookReceiver.start();
    });
    beforeEach(async () => {
      receiver.reset();
      await changeDelivery(here.admin, { mode: 'webhook', url: receiver.url });
    });
    afterAll(() => receiver.stop());

    /** A message whose webhook is under way; `finish` has it answered. */
    async function sentMessage(turnId?: string): Promise<{ id: string; finish: () => void }> {
      let finish = (): void => undefined;
      receiver.answer((response, webhook) => {
        finish = (): void => void status(200, {}, { turnId })(response, webhook);
      });
      const callId = await endedCall();
      await receiver.until(1);
      return { id: (await engine.get(callId)).message.id as string, finish: () => finish() };
    }

    it('a 2xx after the discard changes nothing, and opens no turn', async () => {
      const { id, finish } = await sentMessage('late');
      const next = await endedCall();
      const held = await hold();
      const discarded = await held.queue(() => adminThere.discard(id));
      await held.queue(() => Promise.resolve(finish()));
      await held.release();
      expect((await discarded.answer).body).toMatchObject({ state: 'discarded' });
      await eventually('the next one has come', () => receiver.told.includes(next));
      await eventually(
        'nothing is under way',
        async () => (await rows.message()).state !== 'pending',
      );
      expect(await adminHere.get(id)).toMatchObject({ state: 'discarded', deliveries: [] });
      expect(await rows.events()).not.toContain('turn.started');
    });

    it('a discard after the 2xx is refused', async () => {
      const { id, finish } = await sentMessage();
      const held = await hold();
      await held.queue(() => Promise.resolve(finish()));
      const discarded = await held.queue(() => adminThere.discard(id));
      await held.release();
      expect(await discarded.answer).toMatchObject(REFUSED);
      expect(await adminHere.get(id)).toMatchObject({ state: 'delivered' });
    });

    it('all dead letters sent again by both replicas are sent again once', async () => {
      receiver.answerAlways(status(410));
      const engines = Array.from({ length: 8 }, () => here.session());
      for (const one of engines)
        for (let calls = 0; calls < 3; calls++) await one.callInBackground('echo');
      const since = '1970-01-01T00:00:00Z';
      const dead = (): Promise<any[]> => adminHere.list('state=dead&limit=100');
      await eventually('all are dead letters', async () => {
        const told = (await dead()).flatMap(({ callIds }) => callIds as string[]);
        return told.length === 24;
      });
      const letters = (await dead()).map(({ id }) => id as string);
      receiver.reset();
      const answers = await Promise.all([
        adminHere.redeliverDead({ since }),
        adminThere.redeliverDead({ since }),
      ]);
      const redelivered = answers.map(({ body }) => body.redelivered as number);
      expect(redelivered[0]! + redelivered[1]!).toBe(letters.length);
      await receiver.until(letters.length);
      await eventually('all are delivered', async () => (await dead()).length === 0);
      expect(receiver.received.map(({ id }) => id).sort()).toEqual([...letters].sort());
    });
  });
});
