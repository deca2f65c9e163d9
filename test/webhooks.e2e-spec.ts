import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import type { TestService } from './support/service.js';
import { useService } from './support/service-fixture.js';
import { changeDelivery, hurry } from './support/webhook-app.js';
import { isSignedBy, loseAnswer, status, WebhookReceiver } from './support/webhook-receiver.js';

describe('a webhook', () => {
  let receiver: WebhookReceiver;
  let service: TestService;
  let engine: Engine;
  let secret: string;
  useService((fresh) => ({ service, engine } = fresh));

  beforeAll(async () => {
    receiver = await WebhookReceiver.start();
    hurry(service);
    await service.settings({ backgroundCalls: { maxPerTarget: 100 } });
    secret = (await changeDelivery(service.admin, { mode: 'webhook', url: receiver.url })) ?? '';
  });
  beforeEach(() => receiver.reset());
  afterAll(() => receiver.stop());

  /** Ends the wait of what is to be tried again, on the database's clock. */
  const waitIsOver = async (): Promise<void> => {
    await service.sql(
      `UPDATE targets SET hidden_until = now() - interval '1 ms' WHERE session_id = $1`,
      [engine.sessionId],
    );
  };
  const message = async (): Promise<any> =>
    (
      await service.sql<any>(
        `SELECT messages.*, (extract(epoch FROM messages.next_attempt_at - now()) * 1000)::int AS "waitMs"
         FROM messages JOIN targets ON targets.id = messages.target_id
         WHERE targets.session_id = $1 ORDER BY messages.created_at DESC LIMIT 1`,
        [engine.sessionId],
      )
    )[0];
  const tries = async (): Promise<any[]> =>
    service.sql<any>(
      `SELECT message_attempts.* FROM message_attempts
       JOIN messages ON messages.id = message_attempts.message_id
       JOIN targets ON targets.id = messages.target_id
       WHERE targets.session_id = $1 ORDER BY message_attempts.number`,
      [engine.sessionId],
    );
  /** Resolves when the try before is settled; answers the message. */
  const waiting = (failures: number): Promise<any> =>
    eventually('it waits for the next try', async () => {
      const row = await message();
      return row?.next_attempt_at !== null && row?.failures === failures && row;
    });
  const ended = (state: string): Promise<any> =>
    eventually(`the message is ${state}`, async () => {
      const row = await message();
      return row?.state === state && row;
    });

  it('tells of a call that ended, signed, once', async () => {
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const answer = await engine.call(
      'echo',
      {},
      { background: { mode: 'always' } },
      {
        headers: { traceparent },
      },
    );
    const [webhook] = await receiver.until(1);
    expect(webhook).toMatchObject({
      message: {
        id: webhook?.id,
        kind: 'background_call.result',
        target: { type: 'session', sessionId: engine.sessionId },
        notifications: [{ callId: answer.body.call.id, status: 'completed' }],
        traceparent,
      },
      headers: {
        'content-type': 'application/json',
        'user-agent': 'background-calls',
        traceparent,
      },
    });
    expect(isSignedBy(secret, webhook!)).toBe(true);
    expect(await ended('delivered')).toMatchObject({ attempts: 1 });
    expect(await tries()).toMatchObject([
      { number: 1, outcome: 'delivered', http_status: 204, error: null },
    ]);
    const call = await engine.get(answer.body.call.id as string);
    expect(call).toMatchObject({
      message: { id: webhook?.id, state: 'delivered', attempts: 1 },
      notifiedAt: expect.any(String),
    });
  });

  it('that fails comes again after 1, 2 … s, with the same id and the same bytes', async () => {
    receiver.answer(status(500), status(500));
    await engine.callInBackground('echo');
    const first = await waiting(1);
    expect(first.waitMs).toBeGreaterThan(600);
    expect(first.waitMs).toBeLessThanOrEqual(1_200);
    await waitIsOver();
    const second = await waiting(2);
    expect(second.waitMs).toBeGreaterThan(1_400);
    expect(second.waitMs).toBeLessThanOrEqual(2_400);
    await waitIsOver();
    const all = await receiver.until(3);
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    for (const { raw } of all) expect(raw.equals(all[0]!.raw)).toBe(true);
    expect(all.every((webhook) => isSignedBy(secret, webhook))).toBe(true);
    expect(await ended('delivered')).toMatchObject({ attempts: 3 });
    expect(await tries()).toMatchObject([
      { outcome: 'failed', http_status: 500, error: 'HTTP 500' },
      { outcome: 'failed', http_status: 500, error: 'HTTP 500' },
      { outcome: 'delivered', http_status: 204 },
    ]);
  });

  it('whose answer was lost comes again, with the same id and the same bytes', async () => {
    receiver.answer(loseAnswer);
    await engine.callInBackground('echo');
    await waiting(1);
    await waitIsOver();
    const [first, second] = await receiver.until(2);
    expect(second?.id).toBe(first?.id);
    expect(second?.raw.equals(first!.raw)).toBe(true);
    expect((await tries())[0]).toMatchObject({ outcome: 'failed', http_status: null });
  });
});
