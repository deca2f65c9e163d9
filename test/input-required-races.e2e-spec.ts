import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { type AskingCall, anAskingCall } from './support/asking-work.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { TestService } from './support/service.js';

const ACCEPT = { action: 'accept', content: { ok: false } } as const;
const DECLINE = { action: 'decline' } as const;
const PAST_DEADLINE = `
  UPDATE background_calls SET deadline_at = now() - interval '1 ms'
  WHERE background_calls.id = $1`;
const OF_DEAD_OWNER = `
  UPDATE background_calls SET owner_id = gen_random_uuid() WHERE background_calls.id = $1`;
const WAITING_FOR_LOCK = `
  SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** The target's lock is held until everything that races for it is on its way, in a known order. */
describe('an answer that races', () => {
  let service: TestService;
  let control: Client;
  let engine: Engine;
  let call: AskingCall;
  let answer: ReturnType<AskingCall['work']['ask']>;

  beforeAll(async () => {
    service = await TestService.start();
    control = new Client({ connectionString: service.databaseUrl });
    await control.connect();
  });

  afterAll(async () => {
    await control?.end();
    await service?.stop();
  });

  beforeEach(async () => {
    engine = service.session();
    call = await anAskingCall(service, engine.sessionId);
    answer = call.work.ask();
    await eventually('it asks', async () => {
      return (await engine.get(call.id)).status === 'input_required';
    });
  });

  it('with another one is the only one that counts, or does not', async () => {
    const { first, second } = await inOrder(
      () => engine.answer(call.id, ACCEPT),
      () => engine.answer(call.id, DECLINE),
    );
    expect(first).toMatchObject({ status: 200, body: { status: 'running' } });
    expect(second).toMatchObject({ status: 409, body: { code: 'input_not_required' } });
    expect(await answer).toEqual(ACCEPT);
  });

  it('with itself is one answer', async () => {
    const { first, second } = await inOrder(
      () => engine.answer(call.id, ACCEPT),
      () => engine.answer(call.id, ACCEPT),
    );
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(await answer).toEqual(ACCEPT);
    expect(await resumptions()).toBe(1);
  });

  it('with a cancel loses against it, and is not passed on', async () => {
    const { first: answered } = await inOrder(
      () => engine.answer(call.id, ACCEPT),
      () => engine.cancel(call.id),
    );
    expect(answered).toMatchObject({ status: 409 });
    expect(await answer).toEqual({ action: 'cancel' });
    expect(await engine.get(call.id, 10)).toMatchObject({ status: 'cancelled' });
  });

  it('before a cancel is passed on, and the call is cancelled all the same', async () => {
    expect((await engine.answer(call.id, ACCEPT)).status).toBe(200);
    expect((await engine.cancel(call.id)).status).toBe(202);
    expect(await engine.get(call.id, 10)).toMatchObject({ status: 'cancelled' });
  });

  it('with the deadline is not taken once that has passed', async () => {
    const { first: answered } = await inOrder(
      () => engine.answer(call.id, ACCEPT),
      () => service.sql(PAST_DEADLINE, [call.uuid]),
    );
    expect(answered).toMatchObject({ status: 409 });
    expect(await engine.get(call.id, 10)).toMatchObject({ error: { code: 'timeout' } });
    expect(await answer).toEqual({ action: 'cancel' });
  });

  it('with the end of the call: the first of the two wins, and the end is told once', async () => {
    const { first: answered } = await inOrder(
      () => engine.answer(call.id, ACCEPT),
      () => Promise.resolve(call.work.complete()),
    );
    expect(answered.status).toBe(200);
    expect(await engine.get(call.id, 10)).toMatchObject({ status: 'completed' });
    const kinds = (await engine.receive([call.id])).map(({ kind }) => kind);
    expect(kinds).toEqual(['background_call.result']);
  });

  it('with the death of the owner finds the call running, or ended: the question is closed', async () => {
    const { first: answered } = await inOrder(
      () => engine.answer(call.id, ACCEPT),
      () => service.sql(OF_DEAD_OWNER, [call.uuid]),
    );
    expect(answered.status).toBe(200);
    expect(await engine.get(call.id, 15)).toMatchObject({
      status: 'failed',
      error: { code: 'interrupted' },
      outcomeUnknown: true,
    });
    expect(await engine.answer(call.id, DECLINE)).toMatchObject({ status: 409 });
  });

  it('after the death of the owner is not taken: the question was closed with the call', async () => {
    await engine.receive([call.id]);
    await service.sql(OF_DEAD_OWNER, [call.uuid]);
    expect(await engine.get(call.id, 15)).toMatchObject({ status: 'failed', inputRequest: null });
    expect(await engine.answer(call.id, ACCEPT)).toMatchObject({ status: 409 });
    expect(await engine.receive([call.id])).toMatchObject([{ kind: 'background_call.result' }]);
    expect(await closings()).toEqual(['call_ended']);
  });

  /** The question may be in a message that is being handed out, or closed: never both. */
  it('with the handing out of its question: told and answered, or answered and not told', async () => {
    const { first: messages, second: answered } = await inOrder(
      () => engine.messages(),
      () => engine.answer(call.id, DECLINE),
    );
    expect(answered.status).toBe(200);
    const [state] = await service.sql<{ isTold: boolean; suppressed: string | null }>(
      `SELECT notifications.message_id IS NOT NULL AS "isTold", notifications.suppressed
       FROM notifications WHERE notifications.call_id = $1`,
      [call.uuid],
    );
    const isTold = messages.length === 1;
    expect(state).toEqual({ isTold, suppressed: isTold ? null : 'already_answered' });
  });

  async function closings(): Promise<unknown[]> {
    const rows = await service.sql<{ reason: string }>(
      `SELECT input_requests.close_reason AS reason FROM input_requests
       WHERE input_requests.call_id = $1`,
      [call.uuid],
    );
    return rows.map(({ reason }) => reason);
  }

  async function resumptions(): Promise<number> {
    const rows = await service.sql(
      `SELECT FROM events WHERE events.call_id = $1 AND events.type = 'background_call.resumed'`,
      [call.uuid],
    );
    return rows.length;
  }

  /** Starts both while the lock is held; the second one when the first one waits for it. */
  async function inOrder<A, B>(
    first: () => Promise<A>,
    second: () => Promise<B>,
  ): Promise<{ first: A; second: B }> {
    await control.query('BEGIN');
    await control.query('SELECT FROM targets WHERE targets.id = $1 FOR UPDATE', [call.targetId]);
    const one = first();
    await eventually('the first waits', async () => (await waiting()) >= 1);
    let isDone = false;
    const other = second().finally(() => (isDone = true));
    await eventually('the second waits', async () => isDone || (await waiting()) >= 2);
    await control.query('COMMIT');
    return { first: await one, second: await other };
  }

  async function waiting(): Promise<number> {
    return (await control.query(WAITING_FOR_LOCK)).rows.length;
  }
});
