import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { InputRequestRegistry } from '../src/background-calls/questions/input-request.registry.js';
import { InstanceLease } from '../src/instances/instance-lease.js';
import { type AskingCall, anAskingCall } from './support/asking-work.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { PostgresProxy } from './support/postgres-proxy.js';
import { TestService } from './support/service.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const ACCEPT = { action: 'accept', content: { ok: true } } as const;
const CANCEL = { action: 'cancel' } as const;
const REFUSED = { status: 409, body: { code: 'input_not_required' } };
const QUESTION = { message: 'Which one?', schema: {} };
/** In the transaction that asks, and in no other. */
const ASKING = 'bgc_input_required';
/** No lease runs out while the database is away. */
const BY_HAND = { BGC_INSTANCE_HEARTBEAT_SEC: '300', BGC_INSTANCE_LEASE_SEC: '3600' };
const BLOCKED = `
  SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;
const ASKED = `
  SELECT input_requests.sequence, input_requests.close_reason AS reason FROM input_requests
  WHERE input_requests.call_id = $1 ORDER BY input_requests.sequence`;
/** The second try to ask is refused, once, as by a deadlock that comes again and again. */
const REFUSE_ONCE = `
  CREATE SEQUENCE refusals;
  CREATE FUNCTION refuse_once() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF current_query() LIKE '%SET status = ''input_required''%' AND nextval('refusals') = 1
    THEN RAISE EXCEPTION 'refused'; END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER refuse_once BEFORE UPDATE ON background_calls EXECUTE FUNCTION refuse_once();`;
const REFUSE_NO_MORE = 'DROP FUNCTION IF EXISTS refuse_once CASCADE';

/** The owner's connection breaks in the COMMIT of a question; the other replica sees what became of it. */
describe('a question of which it is in doubt whether it was asked', () => {
  let database: TestDatabase;
  let proxy: PostgresProxy;
  let owner: TestService;
  let other: TestService;
  let engine: Engine;
  let call: AskingCall;
  let withdrawal: AbortController;

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await PostgresProxy.start(database.url);
    owner = await TestService.start({ database: { ...database, url: proxy.url }, env: BY_HAND });
    other = await TestService.start({ database, env: BY_HAND });
  });

  afterAll(async () => {
    await owner?.stop();
    await other?.stop();
    await proxy.stop();
    await database.drop();
  });

  beforeEach(async () => {
    engine = other.session();
    call = await anAskingCall(owner, engine.sessionId);
    withdrawal = new AbortController();
  });

  afterEach(async () => {
    proxy.restore();
    await other.sql(REFUSE_NO_MORE, []);
    call.work.complete();
    expect(await engine.get(call.id, 15)).toMatchObject({ status: 'completed' });
  });

  /** The database is away from the moment at which the COMMIT did, or did not, reach it. */
  async function askInDoubt(when: 'before' | 'after'): Promise<{ answer: Promise<unknown> }> {
    const isAway = proxy.breakNext('COMMIT', when, ASKING).then(() => proxy.cut());
    const answer = call.work.ask({ withdrawn: withdrawal.signal });
    await isAway;
    return { answer };
  }

  function asked(): Promise<unknown[]> {
    return other.sql(ASKED, [call.uuid]);
  }

  async function untilOpen(sequence: number): Promise<unknown> {
    return eventually(`question ${sequence} is open`, async () => {
      const { inputRequest } = await engine.get(call.id);
      return inputRequest?.sequence === sequence && inputRequest;
    });
  }

  it.each([
    ['happened', 'after', [{ sequence: 1, reason: 'withdrawn' }]],
    ['did not', 'before', []],
  ] as const)(
    'and that is withdrawn in between is no other question of its call: the COMMIT %s',
    async (_, when, first) => {
      const { answer } = await askInDoubt(when);
      withdrawal.abort();
      const next = call.work.ask({ message: 'And now?' });
      proxy.restore();
      expect(await untilOpen(2)).toMatchObject({ message: 'And now?' });
      const [message] = await engine.receive([call.id]);
      expect(message.notifications).toHaveLength(1);
      expect(message.text).toContain('And now?');
      expect(await engine.answer(call.id, { ...ACCEPT, sequence: 1 })).toMatchObject(REFUSED);
      expect((await engine.answer(call.id, { ...ACCEPT, sequence: 2 })).status).toBe(200);
      expect(await Promise.all([answer, next])).toEqual([CANCEL, ACCEPT]);
      expect(await asked()).toEqual([...first, { sequence: 2, reason: 'answered' }]);
    },
  );

  it('and that is withdrawn in between is closed and never told', async () => {
    const { answer } = await askInDoubt('after');
    expect(await engine.get(call.id)).toMatchObject({ status: 'input_required' });
    withdrawal.abort();
    proxy.restore();
    expect(await answer).toEqual(CANCEL);
    expect(await engine.get(call.id)).toMatchObject({ status: 'running', inputRequest: null });
    expect(await engine.answer(call.id, ACCEPT)).toMatchObject(REFUSED);
    expect(await engine.messages()).toEqual([]);
  });

  it('and that is answered in between is not asked again', async () => {
    const { answer } = await askInDoubt('after');
    expect((await engine.answer(call.id, ACCEPT)).status).toBe(200);
    proxy.restore();
    expect(await answer).toEqual(ACCEPT);
    expect(await asked()).toEqual([{ sequence: 1, reason: 'answered' }]);
  });

  it('waits for its answer when the next try is refused', async () => {
    const { answer } = await askInDoubt('after');
    await other.sql(REFUSE_ONCE, []);
    proxy.restore();
    await eventually('it was refused', async () => {
      const rows = await other.sql('SELECT 1 FROM refusals WHERE is_called', []);
      return rows.length > 0;
    });
    expect((await engine.answer(call.id, ACCEPT)).status).toBe(200);
    expect(await answer).toEqual(ACCEPT);
    expect(await asked()).toEqual([{ sequence: 1, reason: 'answered' }]);
  });

  it.each([
    ['waits for its answer', false],
    ['is closed when it is withdrawn', true],
  ])('whose COMMIT reaches the database late %s', async (_, isWithdrawn) => {
    const delayed = proxy.delayNext('COMMIT', ASKING);
    const answer = call.work.ask({ withdrawn: withdrawal.signal });
    const { deliver } = await delayed;
    if (isWithdrawn) withdrawal.abort();
    await eventually('the next try waits', async () => (await other.sql(BLOCKED, [])).length > 0);
    expect(await asked()).toEqual([]);
    deliver();
    if (!isWithdrawn) {
      await untilOpen(1);
      expect((await engine.answer(call.id, ACCEPT)).status).toBe(200);
    }
    expect(await answer).toEqual(isWithdrawn ? CANCEL : ACCEPT);
    const reason = isWithdrawn ? 'withdrawn' : 'answered';
    expect(await asked()).toEqual([{ sequence: 1, reason }]);
  });

  it('and that was withdrawn before its first try needs no database and is never written', async () => {
    withdrawal.abort();
    proxy.cut();
    expect(await call.work.ask({ withdrawn: withdrawal.signal })).toEqual(CANCEL);
    expect(await asked()).toEqual([]);
  });

  it('is known by its number and its owner alone', async () => {
    const registry = owner.get(InputRequestRegistry);
    const { uuid: id, targetId } = call;
    const ours = { id, targetId, ownerId: owner.get(InstanceLease).instanceId };
    const theirs = { ...ours, ownerId: other.get(InstanceLease).instanceId };
    expect(await registry.isAsked(ours, 1)).toBe(false);
    expect(await registry.ask(ours, 1, QUESTION)).toBe(true);
    expect(await registry.ask(ours, 1, QUESTION)).toBe(true);
    expect(await registry.ask(ours, 2, QUESTION)).toBe(false);
    expect(await registry.isAsked(ours, 1)).toBe(true);
    expect(await registry.isAsked(theirs, 1)).toBe(false);
    expect(await registry.ask(theirs, 1, QUESTION)).toBe(false);
    expect((await engine.answer(call.id, ACCEPT)).status).toBe(200);
    expect(await registry.ask(ours, 1, QUESTION)).toBe(true);
    expect(await engine.get(call.id)).toMatchObject({ status: 'running' });
    expect(await asked()).toEqual([{ sequence: 1, reason: 'answered' }]);
  });
});
