import { describe, expect, it } from '@jest/globals';
import { toPublicId } from '../src/common/ids.js';
import { anotherApp } from './support/another-app.js';
import { Api } from './support/api.js';
import { anAskingCall, type AskingCall } from './support/asking-work.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { HeldTarget } from './support/held-target.js';
import type { McpTestServer } from './support/mcp-server.js';
import { TestReplicas } from './support/replicas.js';
import { KEYS } from './support/keys.js';
import { type TestService } from './support/service.js';
import { useService, useServiceOf } from './support/service-fixture.js';

const UNREAD = { suppressed: null };
const READ = { suppressed: 'already_read', message: null, notifiedAt: null };

describe('a result that was read, on any of two replicas', () => {
  let service: TestReplicas;
  let engine: Engine;
  useServiceOf(
    () => TestReplicas.start(),
    (fresh) => ({ service, engine } = fresh),
  );

  /** A call that ended while the turn `busy` runs. */
  async function endedInTurn(): Promise<string> {
    await engine.startTurn('busy');
    const { id } = await engine.callInBackground('echo');
    await engine.get(id, 10);
    return id;
  }

  async function suppressions(): Promise<object[]> {
    return service.sql(
      `SELECT events.data->>'reason' AS reason
       FROM events JOIN targets ON targets.id = events.target_id
       WHERE events.type = 'notification.suppressed' AND targets.session_id = $1`,
      [engine.sessionId],
    );
  }

  it('is not told any more, and its call says why', async () => {
    const id = await endedInTurn();
    const marked = await engine.markRead(id);
    expect(marked).toMatchObject({ status: 200, body: { id, status: 'completed', ...READ } });
    await engine.endTurn('busy');
    expect(await engine.messages()).toEqual([]);
    expect(await engine.get(id)).toMatchObject(READ);
    expect((await engine.list()).map(({ suppressed }) => suppressed)).toEqual(['already_read']);
    const [target] = await service.sql(
      'SELECT FROM targets WHERE session_id = $1 AND undelivered_since IS NOT NULL',
      [engine.sessionId],
    );
    expect(target).toBeUndefined();
  });

  it('may be marked again: nothing more happens', async () => {
    const id = await endedInTurn();
    const first = await engine.markRead(id);
    const again = await engine.markRead(id);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(await suppressions()).toEqual([{ reason: 'already_read' }]);
  });

  it('leaves the others to be told, in their order', async () => {
    await engine.startTurn('busy');
    const ids: string[] = [];
    for (let index = 0; index < 3; index++) ids.push(await endedInTurn());
    await engine.markRead(ids[1]!);
    await engine.endTurn('busy');
    const [message] = await engine.messages();
    expect(callsOf(message)).toEqual([ids[0], ids[2]]);
    expect(await engine.get(ids[0]!)).toMatchObject(UNREAD);
  });

  it('is told all the same when it was only read, and not marked', async () => {
    const id = await endedInTurn();
    expect((await service.agent.get(`/v1/background-calls/${id}/result`)).status).toBe(200);
    expect((await service.agent.get(`/v1/background-calls/${id}/result?part=0`)).status).toBe(200);
    expect(await engine.get(id)).toMatchObject({ ...UNREAD, message: null });
    await engine.endTurn('busy');
    expect(callsOf((await engine.messages())[0])).toEqual([id]);
  });

  it('stays in a message that was handed out before, which comes again as it is', async () => {
    const { id } = await engine.callInBackground('echo');
    const [message] = await engine.messages(10);
    expect((await engine.markRead(id)).body).toMatchObject({
      ...UNREAD,
      message: { id: message.id, state: 'pending', attempts: 1 },
    });
    await service.sql(
      `UPDATE targets SET hidden_until = now() - interval '1 ms' WHERE session_id = $1`,
      [engine.sessionId],
    );
    expect(await engine.messages()).toEqual([message]);
    await engine.ack(message.id);
    const delivered = await engine.markRead(id);
    expect(delivered.body).toMatchObject({ ...UNREAD, message: { state: 'delivered' } });
    expect(await suppressions()).toEqual([]);
  });

  it.each(['failed', 'cancelled'])('may also be that the call has %s', async (status) => {
    await engine.startTurn('busy');
    const isFailure = status === 'failed';
    const { id } = await engine.callInBackground(isFailure ? 'fail' : 'gate', { name: 'never' });
    if (!isFailure) await engine.cancel(id);
    await engine.get(id, 10);
    expect((await engine.markRead(id)).body).toMatchObject({ status, ...READ });
    await engine.endTurn('busy');
    expect(await engine.messages()).toEqual([]);
  });
});

describe('marking as read', () => {
  let service: TestService;
  let upstream: McpTestServer;
  let engine: Engine;
  useService((fresh) => ({ service, upstream, engine } = fresh));

  it('is refused while the call runs, which is told when it has ended', async () => {
    const { id } = await engine.callInBackground('gate', { name: 'early' });
    const refused = { status: 409, body: { code: 'no_result', detail: expect.any(String) } };
    expect(await engine.markRead(id)).toMatchObject(refused);
    upstream.release('early');
    expect(callsOf((await engine.messages(10))[0])).toEqual([id]);
  });

  it('is refused while the call asks, and what it asks is told', async () => {
    const { id, work } = await anAskingCall(service, engine.sessionId);
    void work.ask();
    await eventually('it asks', async () => (await engine.get(id)).status === 'input_required');
    expect(await engine.markRead(id)).toMatchObject({ status: 409, body: { code: 'no_result' } });
    expect((await engine.messages(10))[0]).toMatchObject({
      kind: 'background_call.input_required',
      notifications: [{ callId: id }],
    });
  });

  it('is not found for unknown, malformed and foreign ids, which look alike', async () => {
    await engine.startTurn('busy');
    const { id } = await engine.callInBackground('echo');
    await engine.get(id, 10);
    const { agent } = await anotherApp(service);
    const unknown = toPublicId('bgc', '01935f2e-0000-7000-8000-00000000f0f0');
    const answers = [
      await agent.post(`/v1/background-calls/${id}/mark-read`),
      await engine.markRead(unknown),
      await engine.markRead('bgc_x'),
    ];
    const shown = answers.map(({ status, body }) => {
      const { requestId: _, instance: __, ...rest } = body;
      return JSON.stringify({ status, ...rest });
    });
    expect(answers[0]).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(new Set(shown).size).toBe(1);
    expect(await engine.get(id)).toMatchObject(UNREAD);
    await engine.endTurn('busy');
    expect(callsOf((await engine.messages())[0])).toEqual([id]);
  });

  it.each([KEYS.BGC_ADMIN_KEY, KEYS.BGC_BOT_KEY])('needs a key of an agent: %s', async (key) => {
    const { id } = await engine.callInBackground('echo');
    const answer = await new Api(service.url, key).post(`/v1/background-calls/${id}/mark-read`);
    expect(answer.status).toBe(403);
  });

  it('that comes before the claim leaves it nothing', async () => {
    const id = await endedUnseen();
    const held = await HeldTarget.hold(service.databaseUrl, engine.sessionId);
    const marked = await held.queue(() => engine.markRead(id));
    const claimed = await held.queue(() => engine.messages());
    await held.release();
    expect((await marked.answer).body).toMatchObject(READ);
    expect(await claimed.answer).toEqual([]);
  });

  it('that comes after the claim changes nothing', async () => {
    const id = await endedUnseen();
    const held = await HeldTarget.hold(service.databaseUrl, engine.sessionId);
    const claimed = await held.queue(() => engine.messages());
    const marked = await held.queue(() => engine.markRead(id));
    await held.release();
    expect(callsOf((await claimed.answer)[0])).toEqual([id]);
    expect((await marked.answer).body).toMatchObject({ ...UNREAD, message: { state: 'pending' } });
  });

  it('that comes while the end is being written is refused, and the end is told', async () => {
    const call = await anAskingCall(service, engine.sessionId);
    const held = await HeldTarget.hold(service.databaseUrl, engine.sessionId);
    await held.queue(() => end(call));
    expect(await engine.markRead(call.id)).toMatchObject({ status: 409 });
    await held.release();
    expect(callsOf((await engine.messages(10))[0])).toEqual([call.id]);
  });

  it('by several at once happens once', async () => {
    const id = await endedUnseen();
    const held = await HeldTarget.hold(service.databaseUrl, engine.sessionId);
    const marks = [
      await held.queue(() => engine.markRead(id)),
      await held.queue(() => engine.markRead(id)),
    ];
    await held.release();
    for (const { answer } of marks) expect((await answer).body).toMatchObject(READ);
    const events = await service.sql(
      `SELECT FROM events JOIN targets ON targets.id = events.target_id
       WHERE events.type = 'notification.suppressed' AND targets.session_id = $1`,
      [engine.sessionId],
    );
    expect(events).toHaveLength(1);
  });

  /** A call of an idle session that has ended and was not asked for. */
  async function endedUnseen(): Promise<string> {
    const { id } = await engine.callInBackground('echo');
    await engine.get(id, 10);
    return id;
  }

  async function end({ work, id }: AskingCall): Promise<void> {
    work.complete();
    await engine.get(id, 10);
  }
});

function callsOf(message: { notifications: { callId: string }[] } | undefined): string[] {
  return (message?.notifications ?? []).map(({ callId }) => callId);
}
