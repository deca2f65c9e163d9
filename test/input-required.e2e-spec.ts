import { describe, expect, it } from '@jest/globals';
import { type AskingCall, type AskingWork, anAskingCall } from './support/asking-work.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { SETUPS, type ServiceUnderTest, useServiceOf } from './support/service-fixture.js';

const SCHEMA = {
  type: 'object',
  properties: {
    quarter: { type: 'string', enum: ['', 'Q1', 'Q2'] },
    draft: { type: 'boolean' },
    rows: { type: 'integer', minimum: 0 },
    note: { type: ['string', 'null'] },
  },
  required: ['quarter'],
  additionalProperties: false,
};
const FALSY = { quarter: '', draft: false, rows: 0, note: null };
const ACCEPT = { action: 'accept', content: {} };
const EVENTS_OF = `
  SELECT events.type, events.data FROM events WHERE events.call_id = $1 ORDER BY events.id`;

describe.each(SETUPS)('a background call that needs input of %s', (_, start) => {
  let service: ServiceUnderTest;
  let engine: Engine;
  useServiceOf(start, (fresh) => ({ service, engine } = fresh));

  const begin = (changes = {}): Promise<AskingCall> =>
    anAskingCall(service, engine.sessionId, changes);

  /** Its work has asked, and that is written. */
  async function asking(
    question: Parameters<AskingWork['ask']>[0] = { schema: SCHEMA },
  ): Promise<AskingCall & { answer: ReturnType<AskingWork['ask']> }> {
    const call = await begin();
    const answer = call.work.ask(question);
    await isAsked(call.id);
    return { ...call, answer };
  }

  async function isAsked(id: string, sequence = 1): Promise<void> {
    await eventually('it asks', async () => {
      return (await engine.get(id)).inputRequest?.sequence === sequence;
    });
  }

  async function eventsOf(uuid: string): Promise<string[]> {
    return (await service.sql<{ type: string }>(EVENTS_OF, [uuid])).map(({ type }) => type);
  }

  it('shows the question, tells it in a message, passes the answer on unchanged and ends', async () => {
    const { id, uuid, work, answer } = await asking();
    const call = await engine.get(id);
    expect(call).toMatchObject({ status: 'input_required', message: null });
    const asked = {
      sequence: 1,
      message: 'Which one?',
      schema: SCHEMA,
      deadlineAt: call.deadlineAt,
    };
    expect(call.inputRequest).toEqual(asked);
    const [question] = await engine.messages(5);
    expect(question).toMatchObject({
      kind: 'background_call.input_required',
      notifications: [{ callId: id, status: 'input_required', preview: null, inputRequest: asked }],
    });
    expect(question.text).toContain('【后台调用需要输入】Test · gate');
    expect(question.text).toContain(`POST /v1/background-calls/${id}/input`);
    await engine.ack(question.id);

    const answered = await engine.answer(id, { action: 'accept', content: FALSY });
    expect(answered.status).toBe(200);
    expect(answered.body).toMatchObject({ id, status: 'running', inputRequest: null });
    expect(await answer).toEqual({ action: 'accept', content: FALSY });
    work.complete();
    const [result] = await engine.receive([id]);
    expect(result).toMatchObject({
      kind: 'background_call.result',
      notifications: [{ callId: id, status: 'completed' }],
    });
    expect(await eventsOf(uuid)).toEqual([
      'background_call.running',
      'background_call.input_required',
      'background_call.resumed',
      'background_call.completed',
    ]);
  });

  it.each(['decline', 'cancel'] as const)('passes on that the user says %s', async (action) => {
    const { id, answer } = await asking();
    expect((await engine.answer(id, { action })).body).toMatchObject({ status: 'running' });
    expect(await answer).toEqual({ action });
  });

  it('takes an answer without content for an empty object', async () => {
    const { id, answer } = await asking({ schema: { type: 'object' } });
    expect((await engine.answer(id, { action: 'accept' })).status).toBe(200);
    expect(await answer).toEqual(ACCEPT);
  });

  it('keeps odd keys and characters of an answer', async () => {
    const { id, answer } = await asking({ schema: {} });
    const content = '{"__proto__":{"a":1},"constructor":"\\u0000","hasOwnProperty":"\\ud800"}';
    const body = `{"action":"accept","content":${content}}`;
    expect((await engine.answer(id, body)).status).toBe(200);
    expect(JSON.stringify(await answer)).toBe(body);
  });

  it('names each field of an answer that does not fit, and what is allowed', async () => {
    const { id } = await asking();
    const content = { draft: 'yes', rows: -1, 'a/b': 1 };
    const answer = await engine.answer(id, { action: 'accept', content });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(answer.body.errors).toEqual(
      expect.arrayContaining([
        { pointer: '/content/quarter', detail: 'is required' },
        { pointer: '/content/draft', detail: 'must be boolean' },
        { pointer: '/content/rows', detail: 'must be >= 0' },
        { pointer: '/content/a~1b', detail: 'is not a field' },
      ]),
    );
    const other = await engine.answer(id, { action: 'accept', content: { quarter: 'Q9' } });
    expect(other.body.errors).toEqual([
      {
        pointer: '/content/quarter',
        detail: 'must be equal to one of the allowed values: ["","Q1","Q2"]',
      },
    ]);
    expect(await engine.get(id)).toMatchObject({ status: 'input_required' });
  });

  it.each([
    [{ action: 'accept', content: [] }, '/content'],
    [{ action: 'accept', content: null }, '/content'],
    [{ action: 'decline', content: {} }, '/content'],
    [{ action: 'yes' }, '/action'],
    [{ content: {} }, '/action'],
    [{ action: 'accept', sequence: 0 }, '/sequence'],
    [{ action: 'accept', answer: 1 }, '/answer'],
  ])('refuses %j and names %s', async (body, pointer) => {
    const { id } = await asking();
    const answer = await engine.answer(id, body);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
  });

  it('refuses an answer that is larger than the arguments of a tool may be', async () => {
    const { id } = await asking({ schema: {} });
    const answer = await engine.answer(id, {
      action: 'accept',
      content: { note: 'x'.repeat(262_144) },
    });
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer: '/content' }] } });
    expect(await engine.get(id)).toMatchObject({ status: 'input_required' });
  });

  it.each([
    ['that is none', { type: 'nonsense' }],
    ['that refers to nothing', { $ref: '#/$defs/missing' }],
    ['with a broken pattern', { properties: { a: { pattern: '(' } } }],
    ['that is asynchronous', { $async: true, required: ['a'] }],
    ['that is too deep', JSON.parse('{"not":'.repeat(40) + '{}' + '}'.repeat(40)) as object],
    ['that is too large', { const: 'x'.repeat(20_000) }],
    ['whose pattern never ends', { properties: { a: { type: 'string', pattern: '^(a+)+$' } } }],
  ])('takes any object for an answer to a schema %s', async (__, schema) => {
    const { id, answer } = await asking({ schema: schema as Record<string, unknown> });
    const content = { a: `${'a'.repeat(40)}!` };
    const answered = await engine.answer(id, { action: 'accept', content });
    expect(answered).toMatchObject({ status: 200, body: { status: 'running' } });
    expect(await answer).toEqual({ action: 'accept', content });
  });

  it('says in the message when an answer can be checked against nothing', async () => {
    await asking({ schema: { $ref: '#/$defs/missing' } });
    const [message] = await engine.messages(5);
    expect(message.text).toContain('无法用于校验');
  });

  it('does not tell a question that is answered before it was told, and says why in an event', async () => {
    await engine.startTurn('turn-1');
    const { id, uuid, work } = await asking();
    await engine.answer(id, { action: 'decline' });
    await engine.endTurn('turn-1');
    expect(await engine.messages()).toEqual([]);
    const events = await service.sql<{ type: string; data: object }>(EVENTS_OF, [uuid]);
    expect(events.at(-2)).toMatchObject({
      type: 'notification.suppressed',
      data: { reason: 'already_answered' },
    });
    work.complete();
    expect(await engine.receive([id])).toHaveLength(1);
  });

  it('tells ends and questions in messages of their own, in their order', async () => {
    await engine.startTurn('turn-1');
    const calls = [await begin(), await begin(), await begin()] as const;
    const [first, second, third] = calls;
    first.work.complete();
    await engine.get(first.id, 10);
    void second.work.ask();
    await isAsked(second.id);
    third.work.complete();
    await engine.get(third.id, 10);
    await engine.endTurn('turn-1');
    const messages = await engine.receive(calls.map(({ id }) => id));
    expect(messages.map(({ kind, notifications }) => [kind, notifications[0].callId])).toEqual([
      ['background_call.result', first.id],
      ['background_call.input_required', second.id],
      ['background_call.result', third.id],
    ]);
  });

  it('takes no slot while it waits, and has it back without asking', async () => {
    await service.settings({ backgroundCalls: { maxPerTarget: 1 } });
    try {
      const { id, answer } = await asking();
      const other = await begin();
      expect((await engine.answer(id, { action: 'decline' })).body.status).toBe('running');
      expect(await answer).toEqual({ action: 'decline' });
      expect(await engine.get(other.id)).toMatchObject({ status: 'running' });
    } finally {
      await service.settings({ backgroundCalls: { maxPerTarget: 1_000 } });
    }
  });

  it('asks one thing after another, each with a message', async () => {
    const { id, uuid, work, answer } = await asking();
    const second = work.ask({ message: 'And which other?' });
    await engine.receive([id]);
    await engine.answer(id, { action: 'accept', content: { quarter: 'Q1' } });
    expect(await answer).toMatchObject({ content: { quarter: 'Q1' } });
    await isAsked(id, 2);
    const [message] = await engine.receive([id]);
    expect(message.notifications).toMatchObject([
      { callId: id, inputRequest: { sequence: 2, message: 'And which other?' } },
    ]);
    // What was meant for the first one does not become an answer to the second.
    const late = { action: 'decline', sequence: 1 };
    expect(await engine.answer(id, late)).toMatchObject({ status: 409 });
    await engine.answer(id, { action: 'decline', sequence: 2 });
    expect(await second).toEqual({ action: 'decline' });
    expect((await eventsOf(uuid)).filter((type) => type.endsWith('resumed'))).toHaveLength(2);
  });

  it('takes the same answer again as the one that it has, and no other one', async () => {
    const { id, uuid } = await asking();
    const body = { action: 'accept', content: { quarter: 'Q1', rows: 0 } };
    await engine.answer(id, body);
    const again = await engine.answer(id, { ...body, content: { rows: 0, quarter: 'Q1' } });
    expect(again).toMatchObject({ status: 200, body: { status: 'running' } });
    expect(await engine.answer(id, { action: 'decline' })).toMatchObject({
      status: 409,
      body: { code: 'input_not_required' },
    });
    expect((await eventsOf(uuid)).filter((type) => type.endsWith('resumed'))).toHaveLength(1);
  });

  it('is not to be answered while it asks nothing, by another number, or by another app', async () => {
    const { id } = await begin();
    const none = { status: 409, body: { code: 'input_not_required' } };
    expect(await engine.answer(id, ACCEPT)).toMatchObject(none);
    const asked = await asking({ schema: {} });
    expect(await engine.answer(asked.id, { ...ACCEPT, sequence: 2 })).toMatchObject(none);
    const unknown = 'bgc_01jdfjw000e00800000000005a';
    expect(await engine.answer(unknown, ACCEPT)).toMatchObject({ status: 404 });
    expect((await service.admin.post(`/v1/background-calls/${id}/input`, ACCEPT)).status).toBe(403);
  });

  it('can be cancelled: the worker is told that nobody answers, and no answer is taken', async () => {
    const { id, work, answer } = await asking();
    expect((await engine.cancel(id)).status).toBe(202);
    expect(await answer).toEqual({ action: 'cancel' });
    expect(await engine.get(id, 10)).toMatchObject({ status: 'cancelled', inputRequest: null });
    expect(work.stops).toEqual(['cancelled by request']);
    expect(await engine.answer(id, { action: 'decline' })).toMatchObject({ status: 409 });
    const messages = await engine.receive([id]);
    expect(messages.map(({ kind }) => kind)).toEqual(['background_call.result']);
  });

  it('ends when its worker ends without the answer: a question that was not told never is', async () => {
    await engine.startTurn('turn-1');
    const { id, work, answer } = await asking();
    work.complete();
    expect(await engine.get(id, 10)).toMatchObject({ status: 'completed' });
    expect(await answer).toEqual({ action: 'cancel' });
    await engine.endTurn('turn-1');
    expect(await engine.receive([id])).toMatchObject([{ kind: 'background_call.result' }]);
    expect(await engine.messages()).toEqual([]);
    expect(await engine.answer(id, { action: 'decline' })).toMatchObject({ status: 409 });
  });

  it('runs on when the worker does not want to know any more', async () => {
    const withdrawal = new AbortController();
    const { id, uuid } = await asking({ schema: {}, withdrawn: withdrawal.signal });
    withdrawal.abort();
    await eventually('it runs', async () => (await engine.get(id)).status === 'running');
    expect(await engine.messages()).toEqual([]);
    expect(await engine.answer(id, { action: 'decline' })).toMatchObject({ status: 409 });
    expect((await eventsOf(uuid)).slice(-2)).toEqual([
      'notification.suppressed',
      'background_call.resumed',
    ]);
  });

  it('fails at its deadline, which goes on counting', async () => {
    const call = await begin({ maxHours: 0.6 / 3_600 });
    const answer = call.work.ask();
    expect(await engine.get(call.id, 10)).toMatchObject({
      status: 'failed',
      error: { code: 'timeout' },
    });
    expect(await answer).toEqual({ action: 'cancel' });
  });

  it('is not taken for silent while it waits, and is again afterwards', async () => {
    const call = await begin({ idleTimeoutSec: 0.3 });
    void call.work.ask();
    await isAsked(call.id);
    // Longer than the time after which silence would have ended it.
    expect(await engine.get(call.id, 1)).toMatchObject({ status: 'input_required' });
    await engine.answer(call.id, { action: 'decline' });
    expect(await engine.get(call.id, 10)).toMatchObject({ error: { code: 'idle_timeout' } });
  });

  it('is shown to an administrator with its question', async () => {
    const { id } = await asking();
    const { body } = await service.admin.get(`/admin/v1/background-calls/${id}`);
    expect(body.inputRequest).toMatchObject({ message: 'Which one?', schema: SCHEMA });
    const list = await service.admin.get('/admin/v1/background-calls?status=input_required');
    expect(list.body.data).toContainEqual(expect.objectContaining({ id }));
  });
});
