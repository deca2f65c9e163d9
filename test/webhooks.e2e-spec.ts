import { describe, expect, it } from '@jest/globals';
import { toPublicId } from '../src/common/ids.js';
import { MessageClaims } from '../src/delivery/message-claims.js';
import type { Engine } from './support/engine.js';
import { barrier } from './support/barrier.js';
import { eventually } from './support/eventually.js';
import type { TestService } from './support/service.js';
import { endCallOf } from './support/told-target.js';
import { hurry, rotateSecret } from './support/webhook-app.js';
import { useWebhooks } from './support/webhook-fixture.js';
import {
  type Answer,
  isSignedBy,
  loseAnswer,
  saySilence,
  status,
  type WebhookReceiver,
} from './support/webhook-receiver.js';
import type { WebhookRows } from './support/webhook-rows.js';

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const IN_BACKGROUND = { background: { mode: 'always' } };

let service: TestService;
let receiver: WebhookReceiver;
let engine: Engine;
let rows: WebhookRows;
let secret: string;
useWebhooks((fresh) => ({ service, receiver, engine, rows, secret } = fresh));

/** Of the only app. */
const appId = async (): Promise<string> =>
  (await service.sql<{ id: string }>(`SELECT id FROM apps WHERE name = 'default'`))[0]!.id;

/** Answers with the beginning of a body that goes on for ever. */
const endless =
  (code: number): Answer =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json' });
    const more = (): void => {
      while (response.write(' '.repeat(8_192)));
    };
    response.on('drain', more);
    more();
  };

/** Answers 200 with a part of its body, and then does `rest`. */
const half =
  (rest: (socketOf: Parameters<Answer>[0]) => void): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
    response.write('{"turnId":', () => rest(response));
  };

describe('a webhook', () => {
  it('tells of a call that ended, signed, once', async () => {
    const headers = { traceparent: TRACEPARENT };
    const answer = await engine.call('echo', {}, IN_BACKGROUND, { headers });
    const callId = answer.body.call.id as string;
    const [webhook] = await receiver.until(1);
    expect(webhook).toMatchObject({
      message: {
        id: webhook?.id,
        kind: 'background_call.result',
        target: { type: 'session', sessionId: engine.sessionId },
        notifications: [{ callId, status: 'completed' }],
        traceparent: TRACEPARENT,
      },
      headers: {
        'content-type': 'application/json',
        'user-agent': 'background-calls',
        traceparent: TRACEPARENT,
      },
    });
    expect(isSignedBy(secret, webhook!)).toBe(true);
    expect(await rows.in('delivered')).toMatchObject({ attempts: 1 });
    expect(await rows.tries()).toMatchObject([
      { number: 1, outcome: 'delivered', http_status: 204, error: null },
    ]);
    expect(await rows.events()).toEqual(['message.pending', 'message.delivered']);
    expect(await engine.get(callId)).toMatchObject({
      message: { id: webhook?.id, state: 'delivered', attempts: 1 },
      notifiedAt: expect.any(String),
    });
  });

  it('goes to bots too', async () => {
    const address = { type: 'bot', teamId: 'team', botId: `bot-of-${engine.sessionId}` } as const;
    await endCallOf(service, await appId(), address);
    const [webhook] = await receiver.until(1);
    expect(webhook?.message.target).toEqual(address);
  });

  it('carries no trace context when there is none', async () => {
    await engine.callInBackground('echo');
    const [webhook] = await receiver.until(1);
    expect(webhook?.headers).not.toHaveProperty('traceparent');
  });

  it('is signed by the new and the old secret for a day after a rotation', async () => {
    const next = await rotateSecret(service.admin);
    await engine.callInBackground('echo');
    const [both] = await receiver.until(1);
    expect(both?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
    expect([secret, next].map((one) => isSignedBy(one, both!))).toEqual([true, true]);
    await rows.in('delivered');
    await service.sql(`UPDATE apps SET webhook_old_secret_until = now() - interval '1 ms'`);
    await service.sql(`NOTIFY bgc_apps_changed`);
    await eventually('the old secret signs no more', async () => {
      await rows.in('delivered');
      receiver.received.length = 0;
      await engine.callInBackground('echo');
      const [webhook] = await receiver.until(1);
      expect(isSignedBy(next, webhook!)).toBe(true);
      return !isSignedBy(secret, webhook!);
    });
  });
});

describe('a webhook that fails', () => {
  it('comes again after 1, 2 … s, with the same id, the same bytes and a signature of its own', async () => {
    receiver.answer(status(500), status(500));
    await engine.callInBackground('echo');
    const first = await rows.waiting(1);
    expect(first.failures).toBe(1);
    await rows.waitIsOver();
    const second = await rows.waiting(2);
    expect(second.failures).toBe(2);
    await rows.waitIsOver();
    const all = await receiver.until(3);
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    for (const { raw } of all) expect(raw.equals(all[0]!.raw)).toBe(true);
    expect(all.every((webhook) => isSignedBy(secret, webhook))).toBe(true);
    expect(await rows.in('delivered')).toMatchObject({ attempts: 3 });
    expect(await rows.tries()).toMatchObject([
      { outcome: 'failed', http_status: 500, error: 'HTTP 500' },
      { outcome: 'failed', http_status: 500, error: 'HTTP 500' },
      { outcome: 'delivered', http_status: 204 },
    ]);
  });

  it.each<[string, Answer, object]>([
    ['the answer was lost', loseAnswer, { http_status: null }],
    ['the answer broke off', half((response) => response.socket?.destroy()), {}],
    ['no answer came', saySilence, { http_status: null, error: 'No answer within 1 s' }],
    ['the answer did not end', half(() => undefined), { error: 'No answer within 1 s' }],
    ['the error did not end', endless(500), { http_status: 500 }],
    [
      'it was sent elsewhere',
      status(302, { location: 'http://169.254.169.254/latest' }),
      {
        http_status: 302,
        error: 'HTTP 302: a redirect to http://169.254.169.254 is not followed',
      },
    ],
    ['an answer made no sense', status(304), { http_status: 304 }],
    ['the receiver knows nothing of it', status(401), { http_status: 401, error: 'HTTP 401' }],
  ])('comes again when %s', async (_, answer, recorded) => {
    // Only where the end of the wait is what is looked at: a busy machine answers late.
    if (JSON.stringify(recorded).includes('No answer')) hurry(service, { sendMs: 700 });
    receiver.answer(answer);
    await engine.callInBackground('echo');
    await rows.waiting(1);
    await rows.waitIsOver();
    const [first, second] = await receiver.until(2);
    expect(second?.id).toBe(first?.id);
    expect(second?.raw.equals(first!.raw)).toBe(true);
    await rows.in('delivered');
    expect((await rows.tries())[0]).toMatchObject({ outcome: 'failed', ...recorded });
    expect(receiver.received).toHaveLength(2);
    await eventually('no connection is left', () => receiver.open === 0);
  });

  it('is not followed to where a redirect points', async () => {
    receiver.answer(status(307, { location: receiver.url }));
    await engine.callInBackground('echo');
    await rows.waiting(1);
    expect(receiver.received).toHaveLength(1);
  });

  it('keeps what ends later behind it', async () => {
    receiver.answer(status(500));
    const { id: first } = await engine.callInBackground('echo');
    await rows.waiting(1);
    const { id: second } = await engine.callInBackground('echo');
    await engine.get(second, 10);
    expect(await claimNow()).toEqual([]);
    await rows.waitIsOver();
    await receiver.until(3);
    expect(receiver.told).toEqual([first, first, second]);
  });

  it('is a dead letter after a last try when it is too old, and the next message goes on', async () => {
    receiver.answer(status(500), status(500), status(500));
    const { id } = await engine.callInBackground('echo', { value: 7 });
    await rows.waiting(1);
    await service.sql(`UPDATE messages SET failures = 20 WHERE state = 'pending'`);
    await rows.age(23.99);
    await rows.waitIsOver();
    // What is left of the day is less than the hour that it would wait otherwise.
    expect((await rows.waiting(2)).waitMs).toBeLessThanOrEqual(36_000);
    await rows.age(25);
    await rows.waitIsOver();
    expect(await rows.in('dead')).toMatchObject({ dead_reason: 'too_old', attempts: 3 });
    expect(await rows.events()).toEqual(['message.pending', 'message.dead']);
    expect(await engine.get(id)).toMatchObject({ message: { state: 'dead' }, notifiedAt: null });
    const { id: next } = await engine.callInBackground('echo');
    await receiver.until(4);
    expect(receiver.told.at(-1)).toBe(next);
    const result = await service.agent.get(`/v1/background-calls/${id}/result`);
    expect(result.body).toMatchObject({ structuredContent: { value: 7 } });
  });

  it('leaves 50 tries behind', async () => {
    receiver.answer(status(500));
    await engine.callInBackground('echo');
    const { id } = await rows.waiting(1);
    await service.sql(`UPDATE messages SET hand_outs = 60, attempts = 60 WHERE id = $1`, [id]);
    await service.sql(
      `INSERT INTO message_attempts (message_id, number, started_at, duration_ms, outcome)
       SELECT $1, number, now(), 1, 'failed' FROM generate_series(2, 60) AS number`,
      [id],
    );
    await rows.waitIsOver();
    await rows.in('delivered');
    const numbers = (await rows.tries()).map(({ number }) => number as number);
    expect([numbers.length, numbers[0], numbers.at(-1)]).toEqual([50, 12, 61]);
  });
});

describe('a receiver that is gone', () => {
  it.each([404, 410])(
    'makes a dead letter at once with %i, and the next one goes on',
    async (code) => {
      receiver.answer(status(code));
      const { id } = await engine.callInBackground('echo', { value: 7 });
      expect(await rows.in('dead')).toMatchObject({ dead_reason: 'receiver_gone', attempts: 1 });
      expect(await rows.tries()).toMatchObject([{ outcome: 'gone', http_status: code }]);
      const result = await service.agent.get(`/v1/background-calls/${id}/result`);
      expect(result.body).toMatchObject({ structuredContent: { value: 7 } });
      const { id: next } = await engine.callInBackground('echo');
      await receiver.until(2);
      expect(receiver.told).toEqual([id, next]);
    },
  );
});

describe('a receiver that is busy', () => {
  it.each([409, 423, 425, 429, 503])('is left alone for as long as it says: %i', async (code) => {
    receiver.answer(status(code, { 'retry-after': '7' }));
    await engine.callInBackground('echo');
    const waiting = await rows.waiting(1);
    expect(waiting).toMatchObject({ attempts: 0, failures: 0 });
    expect(waiting.waitMs).toBeGreaterThan(5_000);
    expect(waiting.waitMs).toBeLessThanOrEqual(7_000);
    expect(await claimNow()).toEqual([]);
    await rows.waitIsOver();
    const [first, second] = await receiver.until(2);
    expect(second?.raw.equals(first!.raw)).toBe(true);
    expect(await rows.in('delivered')).toMatchObject({ attempts: 1 });
    expect(await rows.tries()).toMatchObject([
      { number: 1, outcome: 'busy', http_status: code },
      { number: 2, outcome: 'delivered' },
    ]);
  });

  it('keeps its message, however old it becomes, and its age begins anew', async () => {
    receiver.answer(status(409), status(409), status(500));
    await engine.callInBackground('echo');
    await rows.waiting(1);
    await rows.age(99);
    await rows.waitIsOver();
    expect(await rows.waiting(2)).toMatchObject({ state: 'pending', attempts: 0 });
    await rows.waitIsOver();
    expect(await rows.waiting(3)).toMatchObject({ state: 'pending', failures: 1, attempts: 1 });
    await rows.waitIsOver();
    await rows.in('delivered');
  });
});

describe('a turn', () => {
  it('holds webhooks until it ends', async () => {
    await engine.startTurn('t');
    const { id: first } = await engine.callInBackground('echo', {}, { turnId: 't' });
    const { id: second } = await engine.callInBackground('echo', {}, { turnId: 't' });
    await engine.get(first, 10);
    await engine.get(second, 10);
    expect(await claimNow()).toEqual([]);
    expect(receiver.received).toEqual([]);
    await engine.endTurn('t');
    await rows.in('delivered');
    expect(receiver.told).toEqual([first, second]);
    expect(await rows.events()).toEqual([
      ...['turn.started', 'turn.ended'],
      ...['message.pending', 'message.delivered'],
    ]);
  });

  it('that the answer names begins in the same step, and the next message waits for its end', async () => {
    receiver.answer(status(200, {}, { turnId: 'woken', more: 1 }));
    await engine.callInBackground('echo');
    await rows.in('delivered');
    const { id } = await engine.callInBackground('echo');
    await engine.get(id, 10);
    expect(await claimNow()).toEqual([]);
    await engine.endTurn('woken');
    await receiver.until(2);
    expect(receiver.told.at(-1)).toBe(id);
    expect((await rows.events()).slice(0, 5)).toEqual([
      ...['message.pending', 'message.delivered', 'turn.started'],
      ...['turn.ended', 'message.pending'],
    ]);
  });

  it.each(['the engine', 'the answer'])(
    'that %s has begun and forgotten holds webhooks until it has run out of time',
    async (who) => {
      if (who === 'the engine') await engine.startTurn('lost');
      else {
        receiver.answer(status(200, {}, { turnId: 'lost' }));
        await engine.callInBackground('echo');
        await rows.in('delivered');
      }
      const before = receiver.received.length;
      const { id } = await engine.callInBackground('echo');
      await engine.get(id, 10);
      expect(await claimNow()).toEqual([]);
      await service.sql(
        `UPDATE targets SET turn_expires_at = now() - interval '1 ms' WHERE session_id = $1`,
        [engine.sessionId],
      );
      await receiver.until(before + 1);
      expect(receiver.told.at(-1)).toBe(id);
      expect((await engine.startTurn('lost')).body).toMatchObject({ running: false });
    },
  );

  it('that the answer names late, after its end, does not begin again', async () => {
    receiver.answer(async (response, webhook) => {
      await engine.startTurn('quick');
      await engine.endTurn('quick');
      await status(200, {}, { turnId: 'quick' })(response, webhook);
    });
    await engine.callInBackground('echo');
    await rows.in('delivered');
    await engine.callInBackground('echo');
    await receiver.until(2);
  });

  it.each<[string, Answer, string | null]>([
    [
      'no id',
      status(200, {}, { turnId: 'not an id' }),
      'The turnId of the answer is no id: no turn was opened.',
    ],
    ['null', status(200, {}, { turnId: null }), null],
    ['no JSON', (response) => void response.end('welcome'), null],
    ['nothing', status(202), null],
    ['without end', endless(200), null],
  ])(
    'does not begin by an answer that is %s; the message is delivered',
    async (_, answer, error) => {
      receiver.answer(answer);
      await engine.callInBackground('echo');
      await rows.in('delivered');
      expect(await rows.tries()).toMatchObject([{ outcome: 'delivered', error }]);
      expect(await rows.events()).not.toContain('turn.started');
      await eventually('no connection is left', () => receiver.open === 0);
    },
  );
});

describe('many webhooks', () => {
  it('go out side by side, 16 at once, in order for each session', async () => {
    const app = await appId();
    const sessions = Array.from({ length: 40 }, (_, index) => `${engine.sessionId}-${index}`);
    const gate = barrier();
    receiver.answerAlways(async (response, webhook) => {
      await gate.opened;
      await status(204)(response, webhook);
    });
    for (const sessionId of [...sessions, ...sessions])
      await endCallOf(service, app, { type: 'session', sessionId });
    await receiver.until(16);
    expect(receiver.open).toBe(16);
    gate.open();
    await eventually('all are told', () => receiver.told.length === 80);
    expect(receiver.mostOpen).toBe(16);
    const targets = receiver.received.map(({ message }) => message.target.sessionId as string);
    expect(new Set(targets).size).toBe(40);
  });

  it('whose body is broken end nothing: they come again when their time is over', async () => {
    receiver.answer(status(500));
    await engine.callInBackground('echo');
    const { id, body } = await rows.waiting(1);
    const setBody = 'UPDATE messages SET body = $2 WHERE messages.id = $1';
    await service.sql(setBody, [id, 'no JSON']);
    await rows.waitIsOver();
    await eventually('it is claimed', async () => (await rows.message()).hand_outs === 2);
    expect(await rows.message()).toMatchObject({ state: 'pending' });
    await service.sql(setBody, [id, body]);
    await rows.waitIsOver();
    await rows.in('delivered');
    expect(receiver.received).toHaveLength(2);
  });

  it('of a receiver that never answers do not hold up another app', async () => {
    const app = await appId();
    receiver.answerAlways(saySilence);
    for (let index = 0; index < 40; index++)
      await endCallOf(service, app, { type: 'session', sessionId: `${engine.sessionId}-${index}` });
    await receiver.until(16);
    const [other] = await service.sql<{ id: string }>(
      `INSERT INTO apps (id, name, webhook_url)
       SELECT gen_random_uuid(), 'other', apps.webhook_url FROM apps
       RETURNING id`,
    );
    const path = `/admin/v1/apps/${toPublicId('app', other!.id)}`;
    await service.admin.patch(path, { delivery: { mode: 'webhook' } });
    receiver.answerAlways(status(204));
    await endCallOf(service, other!.id, { type: 'session', sessionId: 'of-the-other' });
    await eventually('the other app is told', () =>
      receiver.received.some(({ message }) => message.target.sessionId === 'of-the-other'),
    );
    expect(receiver.received).toHaveLength(17);
  });
});

/** What could be sent now, as the relay sees it. */
async function claimNow(): Promise<unknown[]> {
  return service.get(MessageClaims).claimOfApp(await appId(), 10, 60);
}
