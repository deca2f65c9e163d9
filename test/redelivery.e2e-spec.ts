import { beforeEach, describe, expect, it } from '@jest/globals';
import { AppDirectory } from '../src/apps/app.directory.js';
import { MessageClaims } from '../src/delivery/message-claims.js';
import { anotherApp } from './support/another-app.js';
import { fromPublicId, toPublicId } from '../src/common/ids.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { HeldTarget } from './support/held-target.js';
import { MessageAdmin } from './support/message-admin.js';
import type { TestService } from './support/service.js';
import { endCallOf } from './support/told-target.js';
import { useWebhooks } from './support/webhook-fixture.js';
import { status, type WebhookReceiver } from './support/webhook-receiver.js';
import type { WebhookRows } from './support/webhook-rows.js';

const BUSY = status(503, { 'retry-after': '3600' });
const EPOCH = '1970-01-01T00:00:00Z';

let service: TestService;
let receiver: WebhookReceiver;
let engine: Engine;
let rows: WebhookRows;
let admin: MessageAdmin;
useWebhooks((fresh) => ({ service, receiver, engine, rows } = fresh));
beforeEach(async () => {
  admin = new MessageAdmin(service.admin);
  await service.sql(
    `UPDATE messages SET state = 'discarded', dead_reason = NULL WHERE state = 'dead'`,
  );
});

/** A call of the session that has ended; answers its id. */
async function endedCall(): Promise<string> {
  const { id } = await engine.callInBackground('echo');
  await engine.get(id, 10);
  return id;
}

/** The receiver was gone when a call ended. */
async function deadLetter(): Promise<{ id: string; callId: string }> {
  receiver.answer(status(410));
  const callId = await endedCall();
  return { id: await messageOf(callId, ({ state }) => state === 'dead'), callId };
}

/** The receiver wants a message an hour later. */
async function waitingMessage(): Promise<{ id: string; callId: string }> {
  receiver.answer(BUSY);
  const callId = await endedCall();
  return { id: await messageOf(callId, ({ nextAttemptAt }) => nextAttemptAt !== null), callId };
}

/** The id of the message that tells of the call, when it has come so far. */
async function messageOf(callId: string, hasCome: (message: any) => boolean): Promise<string> {
  return eventually('the message has come so far', async () => {
    const [message] = await admin.list(`callId=${callId}`);
    return message !== undefined && hasCome(message) && (message.id as string);
  });
}

async function arrived(id: string): Promise<void> {
  await eventually('it is delivered', async () => (await admin.get(id)).state === 'delivered');
  expect(await admin.get(id)).toMatchObject({ state: 'delivered', heldBack: false });
}

describe('sending a message again', () => {
  it('sends a dead letter under its id, with its bytes, as if it were new', async () => {
    const { id, callId } = await deadLetter();
    expect(await admin.list('state=dead')).toMatchObject([
      { id, state: 'dead', deadReason: 'receiver_gone', attempts: 1, callIds: [callId] },
    ]);
    const { status: code, body } = await admin.redeliver(id);
    expect(code).toBe(200);
    expect(body).toMatchObject({ id, state: 'pending', deadReason: null, heldBack: false });
    const [first, second] = await receiver.until(2);
    expect([second?.id, second?.raw.equals(first!.raw)]).toEqual([id, true]);
    await arrived(id);
    const { deliveries, attempts, redeliveredAt } = await admin.get(id);
    expect(deliveries.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'gone',
      'delivered',
    ]);
    expect([attempts, redeliveredAt]).toEqual([2, expect.any(String)]);
    expect(await rows.events()).toEqual([
      ...['message.pending', 'message.dead', 'message.pending', 'message.delivered'],
    ]);
    expect(await engine.get(callId)).toMatchObject({ message: { id, state: 'delivered' } });
    expect(await admin.list('state=dead')).toEqual([]);
  });

  it('has never failed before and is young again', async () => {
    const { id } = await deadLetter();
    await service.sql(`UPDATE messages SET failures = 9, trying_since = now() - interval '3 days'`);
    receiver.answer(status(500));
    await admin.redeliver(id);
    await rows.waiting(2);
    expect(await admin.get(id)).toMatchObject({ state: 'pending', failures: 1 });
  });

  it('sends what was delivered once more, and keeps when that was', async () => {
    const callId = await endedCall();
    await rows.in('delivered');
    const { message, notifiedAt } = await engine.get(callId);
    receiver.answer(BUSY);
    expect((await admin.redeliver(message.id)).body).toMatchObject({
      state: 'pending',
      deliveredAt: notifiedAt,
    });
    const [first, second] = await receiver.until(2);
    expect([second?.id, second?.raw.equals(first!.raw)]).toEqual([message.id, true]);
    await rows.waiting(2);
    expect(await engine.get(callId)).toMatchObject({ message: { state: 'pending' }, notifiedAt });
    const { body } = await admin.discard(message.id);
    expect(body).toMatchObject({ state: 'discarded', deliveredAt: notifiedAt });
  });

  it('waits for the end of the turn', async () => {
    const { id } = await deadLetter();
    await engine.startTurn('busy');
    await admin.redeliver(id);
    const [app] = service.get(AppDirectory).all();
    expect(await service.get(MessageClaims).claimOfApp(app!.id, 10, 60)).toEqual([]);
    expect(receiver.received).toHaveLength(1);
    await engine.endTurn('busy');
    await arrived(id);
  });

  it('comes after the message that is out and before what is new, the oldest first', async () => {
    const older = await deadLetter();
    const newer = await deadLetter();
    const out = await waitingMessage();
    for (const { id } of [newer, older])
      expect((await admin.redeliver(id)).body).toMatchObject({ state: 'pending', heldBack: true });
    const fresh = await endedCall();
    receiver.received.length = 0;
    await rows.waitIsOver();
    await receiver.until(4);
    expect(receiver.told).toEqual([out, older, newer].map(({ callId }) => callId).concat(fresh));
    await arrived(older.id);
  });

  it('goes on when the message that is out is discarded', async () => {
    const { id } = await deadLetter();
    const out = await waitingMessage();
    await admin.redeliver(id);
    expect((await admin.discard(out.id)).status).toBe(200);
    await arrived(id);
    expect(await admin.get(id)).toMatchObject({ state: 'delivered' });
  });

  it('makes what waits for its next try due at once, and leaves what is out as it is', async () => {
    const { id } = await waitingMessage();
    let finish = (): void => undefined;
    receiver.answer((response) => {
      finish = (): void => void response.writeHead(204).end();
    });
    const hurried = await admin.redeliver(id);
    expect(hurried.body).toMatchObject({ state: 'pending', nextAttemptAt: null });
    await receiver.until(2);
    const { text } = await admin.redeliver(id);
    expect(JSON.parse(text)).toMatchObject({ state: 'pending', attempts: 1, heldBack: false });
    finish();
    await arrived(id);
    expect(receiver.received).toHaveLength(2);
  });

  it('is over for what was discarded', async () => {
    const { id } = await deadLetter();
    await admin.discard(id);
    expect(await admin.redeliver(id)).toMatchObject({
      status: 409,
      body: { code: 'message_discarded' },
    });
  });

  it('is not settled by an answer to a try before', async () => {
    let late = (): void => undefined;
    const callId = await endedCallWithout((finish) => (late = finish));
    const { message } = await engine.get(callId);
    await engine.ack(message.id);
    await engine.startTurn('busy');
    await admin.redeliver(message.id);
    const held = await HeldTarget.hold(service.databaseUrl, engine.sessionId);
    await held.queue(() => Promise.resolve(late()));
    await held.release();
    // Whoever waited for the lock has had it.
    await (await HeldTarget.hold(service.databaseUrl, engine.sessionId)).release();
    expect(await admin.get(message.id)).toMatchObject({ state: 'pending' });
    await engine.endTurn('busy');
    await receiver.until(2);
    await arrived(message.id);
  });
  /** A call whose webhook is not answered until the test says so. */
  async function endedCallWithout(take: (finish: () => void) => void): Promise<string> {
    receiver.answer((response) => take(() => void response.writeHead(204).end()));
    const callId = await endedCall();
    await receiver.until(1);
    return callId;
  }
});

describe('sending dead letters again', () => {
  it('sends all that were made since then, each session in its order, and counts them', async () => {
    const first = await deadLetter();
    const second = await deadLetter();
    const sessions = [engine, service.session()];
    receiver.answer(status(410));
    const { id: third } = await sessions[1]!.callInBackground('echo');
    await sessions[1]!.get(third, 10);
    await receiver.until(3);
    await untilDead(3);
    receiver.received.length = 0;
    const answer = await admin.redeliverDead({ since: EPOCH });
    expect(answer).toMatchObject({ status: 200, body: { redelivered: 3, hasMore: false } });
    await receiver.until(3);
    const told = receiver.told;
    expect(told.filter((id) => id !== third)).toEqual([first.callId, second.callId]);
    expect(told).toContain(third);
    await untilDead(0);
    const again = await admin.redeliverDead({ since: EPOCH });
    expect(again.body).toEqual({ redelivered: 0, hasMore: false });
  });

  it('leaves out older ones', async () => {
    const old = await deadLetter();
    await service.sql(
      `UPDATE messages SET created_at = now() - interval '2 hours' WHERE state = 'dead'`,
    );
    const { id } = await deadLetter();
    const since = (await admin.get(id)).createdAt as string;
    expect((await admin.redeliverDead({ since })).body).toMatchObject({ redelivered: 1 });
    await arrived(id);
    expect(await admin.list('state=dead')).toMatchObject([{ id: old.id }]);
  });

  it('may be of one app, by its name or its id', async () => {
    const { name, id: other } = await anotherApp(service);
    await deadLetter();
    const address = { type: 'session', sessionId: engine.sessionId } as const;
    const callId = await endCallOf(service, other, address);
    await service.sql(
      `INSERT INTO messages (id, app_id, target_id, state, dead_reason, body)
       SELECT $1, app_id, id, 'dead', 'too_old', '{}' FROM targets WHERE app_id = $2`,
      [callId, other],
    );
    const since = EPOCH;
    for (const app of [name, toPublicId('app', other)])
      expect((await admin.list(`state=dead&app=${app}`)).map(({ id }) => id)).toEqual([
        toPublicId('msg', callId),
      ]);
    expect((await admin.redeliverDead({ since, app: name })).body.redelivered).toBe(1);
    expect(await admin.list('state=dead')).toHaveLength(1);
    expect((await admin.redeliverDead({ since, app: 'default' })).body.redelivered).toBe(1);
    const unknown = await admin.redeliverDead({ since, app: 'nobody' });
    expect(unknown).toMatchObject({ status: 400, body: { errors: [{ pointer: '/app' }] } });
  });

  it('goes through more than one transaction, and keeps the order of a session', async () => {
    const { id: pattern } = await deadLetter();
    await service.sql(
      `INSERT INTO messages (id, app_id, target_id, state, dead_reason, body, created_at)
       SELECT gen_random_uuid(), app_id, target_id, 'dead', 'too_old', body, now() - n * interval '1 s'
       FROM messages CROSS JOIN generate_series(1, 119) AS n WHERE messages.id = $1`,
      [fromPublicId('msg', pattern)],
    );
    receiver.received.length = 0;
    expect((await admin.redeliverDead({ since: EPOCH })).body).toMatchObject({ redelivered: 120 });
    await eventually('all have come', () => receiver.received.length >= 120, 30_000);
    const inOrder = await service.sql<{ id: string }>(
      `SELECT messages.id FROM messages JOIN targets ON targets.id = messages.target_id
       WHERE targets.session_id = $1 ORDER BY messages.created_at, messages.id`,
      [engine.sessionId],
    );
    expect(receiver.received.map(({ id }) => id)).toEqual(
      inOrder.map(({ id }) => toPublicId('msg', id)),
    );
  });

  it.each([
    [{}, '/since'],
    [{ since: 'yesterday' }, '/since'],
    [{ since: '2026-02-30T00:00:00Z' }, '/since'],
    [{ since: '2026-01-31T12:00:00' }, '/since'],
    [{ since: null }, '/since'],
    [{ since: EPOCH, app: '' }, '/app'],
    [{ since: EPOCH, until: EPOCH }, '/until'],
  ])('refuses %j', async (body, pointer) => {
    const answer = await admin.redeliverDead(body);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
  });

  async function untilDead(count: number): Promise<void> {
    await eventually(`${count} dead letters`, async () => {
      return (await admin.list('state=dead')).length === count;
    });
  }
});

describe('giving a message up', () => {
  it('lets the next one go on, keeps the result, and may be repeated', async () => {
    const out = await waitingMessage();
    const next = await endedCall();
    const { status: code, body, text } = await admin.discard(out.id);
    expect([code, body]).toMatchObject([
      200,
      { id: out.id, state: 'discarded', nextAttemptAt: null },
    ]);
    expect(await admin.discard(out.id)).toMatchObject({ status: 200, text });
    await receiver.until(2);
    expect(receiver.told.at(-1)).toBe(next);
    expect(await engine.get(out.callId)).toMatchObject({
      message: { id: out.id, state: 'discarded' },
      notifiedAt: null,
    });
    const result = await service.agent.get(`/v1/background-calls/${out.callId}/result`);
    expect(result.status).toBe(200);
    expect((await rows.events()).filter((type) => type === 'message.discarded')).toHaveLength(1);
  });

  it('ends a dead letter, and disturbs nothing that is out', async () => {
    const { id } = await deadLetter();
    const out = await waitingMessage();
    const before = (await admin.get(out.id)).nextAttemptAt as string;
    expect((await admin.discard(id)).body).toMatchObject({ state: 'discarded', deadReason: null });
    expect(await admin.get(out.id)).toMatchObject({ state: 'pending', nextAttemptAt: before });
    expect(await isHidden()).toBe(true);
  });

  it('ends what is held back, and disturbs nothing that is out', async () => {
    const { id } = await deadLetter();
    const out = await waitingMessage();
    await admin.redeliver(id);
    expect((await admin.discard(id)).body).toMatchObject({ state: 'discarded', heldBack: false });
    expect(await admin.get(out.id)).toMatchObject({ state: 'pending' });
    expect(await isHidden()).toBe(true);
    expect(receiver.received).toHaveLength(2);
  });

  it('is refused for what was delivered', async () => {
    const callId = await endedCall();
    await rows.in('delivered');
    const { message } = await engine.get(callId);
    expect(await admin.discard(message.id)).toMatchObject({
      status: 409,
      body: { code: 'message_delivered' },
    });
    expect(await admin.get(message.id)).toMatchObject({ state: 'delivered' });
  });

  async function isHidden(): Promise<boolean> {
    const [row] = await service.sql<{ hidden: boolean }>(
      'SELECT hidden_until > now() AS hidden FROM targets WHERE session_id = $1',
      [engine.sessionId],
    );
    return row?.hidden ?? false;
  }
});

describe('calls are listed by what became of their telling', () => {
  it('for administrators and for the session', async () => {
    await engine.startTurn('busy');
    const running = await engine.callInBackground('gate', { name: 'never' });
    const [waiting, read] = [await endedCall(), await endedCall()];
    await engine.markRead(read);
    const listed = async (delivery: string): Promise<unknown> => {
      const path = `/v1/sessions/${engine.sessionId}/background-calls?delivery=${delivery}`;
      const { body } = await service.agent.get(path);
      return (body.data as { id: string }[]).map(({ id }) => id);
    };
    expect(await listed('waiting')).toEqual([waiting]);
    expect(await listed('suppressed')).toEqual([read]);
    expect(await listed('waiting,suppressed')).toEqual([read, waiting]);
    await engine.cancel(running.id);
    await engine.get(running.id, 10);
    receiver.answer(status(410));
    await engine.endTurn('busy');
    await eventually(
      'they are dead',
      async () => ((await listed('dead')) as string[]).length === 2,
    );
    expect(await listed('dead')).toEqual([waiting, running.id]);
    const { body } = await service.admin.get('/admin/v1/background-calls?delivery=dead');
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([waiting, running.id]);
    expect(await listed('pending,delivered,discarded,waiting')).toEqual([]);
    const wrong = await service.admin.get('/admin/v1/background-calls?delivery=told');
    expect(wrong).toMatchObject({ status: 400, body: { errors: [{ pointer: '?delivery' }] } });
  });
});
