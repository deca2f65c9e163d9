import { beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../src/common/ids.js';
import { anotherApp } from './support/another-app.js';
import { Api } from './support/api.js';
import { anAskingCall } from './support/asking-work.js';
import type { Engine } from './support/engine.js';
import { MessageAdmin } from './support/message-admin.js';
import { KEYS } from './support/keys.js';
import type { TestService } from './support/service.js';
import { useService } from './support/service-fixture.js';
import { endCallOf } from './support/told-target.js';

const UNKNOWN = toPublicId('msg', '01935f2e-0000-7000-8000-00000000f0f0');

describe('messages as administrators see them', () => {
  let service: TestService;
  let engine: Engine;
  let admin: MessageAdmin;
  useService((fresh) => ({ service, engine } = fresh));
  beforeAll(() => {
    admin = new MessageAdmin(service.admin);
  });

  /** Ends a call and has it told; answers the message. */
  async function told(of: Engine = engine): Promise<any> {
    const { id } = await of.callInBackground('echo', { text: 'a "quoted" \u0000 😀' });
    await of.get(id, 10);
    const [message] = await of.messages();
    return message;
  }

  const idsOf = async (query: string): Promise<string[]> =>
    (await admin.list(query)).map(({ id }) => id as string);

  it('are shown with what became of them', async () => {
    const message = await told();
    const [shown] = await admin.list(`sessionId=${engine.sessionId}`);
    expect(shown).toEqual({
      id: message.id,
      app: 'default',
      target: { type: 'session', sessionId: engine.sessionId },
      kind: 'background_call.result',
      state: 'pending',
      deadReason: null,
      attempts: 1,
      failures: 0,
      nextAttemptAt: null,
      heldBack: false,
      redeliveredAt: null,
      createdAt: message.createdAt,
      deliveredAt: null,
      callIds: [message.notifications[0].callId],
    });
    await engine.ack(message.id);
    const whole = await admin.get(message.id);
    expect(whole).toEqual({
      ...shown,
      state: 'delivered',
      deliveredAt: expect.any(String),
      body: message,
      deliveries: [],
    });
  });

  it('come page by page, in both orders, and stay in place while more are made', async () => {
    const made: string[] = [];
    for (let index = 0; index < 5; index++) {
      const { id } = await told();
      await engine.ack(id as string);
      made.push(id as string);
    }
    for (const order of ['asc', 'desc']) {
      const seen: string[] = [];
      let after = '';
      for (let pages = 0; pages < 3; pages++) {
        const query = `sessionId=${engine.sessionId}&limit=2&order=${order}${after}`;
        const { body } = await service.admin.get(`/admin/v1/messages?${query}`);
        seen.push(...(body.data as { id: string }[]).map(({ id }) => id));
        expect(body.hasMore).toBe(pages < 2);
        after = `&after=${body.nextCursor}`;
        if (order === 'desc') await told(service.session());
      }
      expect(seen).toEqual(order === 'asc' ? made : [...made].reverse());
    }
  });

  it('are narrowed by state, also several, and by call', async () => {
    const session = `sessionId=${engine.sessionId}`;
    const delivered = await told();
    await engine.ack(delivered.id);
    const pending = await told();
    expect(await idsOf(`${session}&state=delivered`)).toEqual([delivered.id]);
    expect(await idsOf(`${session}&state=pending`)).toEqual([pending.id]);
    expect(await idsOf(`${session}&state=dead&state=discarded`)).toEqual([]);
    expect(await idsOf(`${session}&state=pending,delivered`)).toEqual([pending.id, delivered.id]);
    const all = await admin.list('state=pending,delivered&limit=100');
    const newest = all.map(({ createdAt }) => createdAt as string);
    expect(newest).toEqual([...newest].sort().reverse());
    expect(await idsOf(`callId=${delivered.notifications[0].callId}`)).toEqual([delivered.id]);
    expect(
      await idsOf(`callId=${toPublicId('bgc', '01935f2e-0000-7000-8000-00000000f0f0')}`),
    ).toEqual([]);
  });

  it('are narrowed by kind', async () => {
    const { id, work } = await anAskingCall(service, engine.sessionId);
    void work.ask();
    const [question] = await engine.messages(10);
    expect(question.notifications).toMatchObject([{ callId: id }]);
    const asking = await admin.list('kind=background_call.input_required');
    expect(asking).toMatchObject([{ id: question.id, callIds: [id] }]);
    const session = `sessionId=${engine.sessionId}`;
    expect(await idsOf(`${session}&kind=background_call.result`)).toEqual([]);
  });

  it('are narrowed by time: from since, until before until', async () => {
    const session = `sessionId=${engine.sessionId}`;
    const { id, createdAt } = await told();
    const later = new Date(Date.parse(createdAt as string) + 1).toISOString();
    expect(await idsOf(`${session}&since=${createdAt}`)).toEqual([id]);
    expect(await idsOf(`${session}&since=${later}`)).toEqual([]);
    expect(await idsOf(`${session}&until=${createdAt}`)).toEqual([]);
    expect(await idsOf(`${session}&since=${createdAt}&until=${later}`)).toEqual([id]);
    const offset = encodeURIComponent(createdAt.replace('Z', '+00:00') as string);
    expect(await idsOf(`${session}&since=${offset}`)).toEqual([id]);
  });

  it('are narrowed by app, session, team and bot', async () => {
    const { id: appId, name, agent } = await anotherApp(service);
    const { sessionId } = engine;
    const mine = await told();
    await endCallOf(service, appId, { type: 'session', sessionId });
    const { body } = await agent.get(`/v1/sessions/${sessionId}/messages`);
    const theirs = body.data[0].id as string;
    expect(await idsOf(`sessionId=${sessionId}`)).toEqual([theirs, mine.id]);
    expect(await idsOf(`sessionId=${sessionId}&app=default`)).toEqual([mine.id]);
    expect(await idsOf(`app=${name}`)).toEqual([theirs]);
    expect(await idsOf(`app=${toPublicId('app', appId)}&state=pending`)).toEqual([theirs]);
    expect(await idsOf('app=nobody')).toEqual([]);
    expect(await idsOf('app=nobody&state=pending')).toEqual([]);
    expect(await idsOf(`app=nobody&sessionId=${sessionId}`)).toEqual([]);
    const bots = [await botMessage('team', 'bot-1'), await botMessage('team', 'bot-2')];
    expect(await admin.list('teamId=team&botId=bot-1')).toMatchObject([
      { id: bots[0], target: { type: 'bot', teamId: 'team', botId: 'bot-1' } },
    ]);
    expect(await idsOf('teamId=team')).toEqual([...bots].reverse());
    expect(await idsOf('teamId=another&botId=bot-1')).toEqual([]);
  });

  it.each([
    ['state=gone', '?state'],
    ['kind=question', '?kind'],
    ['callId=bgc_x', '?callId'],
    ['callId=msg_01m8q70cjvf6fa9fk2rwgkr9q0', '?callId'],
    ['sessionId=a%20b', '?sessionId'],
    ['botId=b', '?botId'],
    ['sessionId=s&teamId=t', '?teamId'],
    ['sessionId=s&botId=b', '?botId'],
    ['since=yesterday', '?since'],
    ['until=2026-13-01T00:00:00Z', '?until'],
    ['until=2026-02-30T00:00:00Z', '?until'],
    ['app=', '?app'],
    ['app=a%00', '?app'],
    ['limit=101', '?limit'],
    ['after=x', '?after'],
    ['order=up', '?order'],
    ['session=s', '?session'],
  ])('refuse the filter %s', async (query, pointer) => {
    const answer = await service.admin.get(`/admin/v1/messages?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { errors: [{ pointer }] } });
  });

  it.each([UNKNOWN, 'msg_x', toPublicId('bgc', '01935f2e-0000-7000-8000-00000000f0f0')])(
    'are not found by the id %s',
    async (id) => {
      const path = `/admin/v1/messages/${id}`;
      const answers = [
        await service.admin.get(path),
        await service.admin.post(`${path}/redeliver`),
        await service.admin.post(`${path}/discard`),
      ];
      for (const answer of answers)
        expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
    },
  );

  it.each([KEYS.BGC_AGENT_KEY, KEYS.BGC_BOT_KEY])('need an admin key: %s', async (key) => {
    const api = new Api(service.url, key);
    const answers = [
      await api.get('/admin/v1/messages'),
      await api.get(`/admin/v1/messages/${UNKNOWN}`),
      await api.post(`/admin/v1/messages/${UNKNOWN}/redeliver`),
      await api.post('/admin/v1/messages/redeliver', { since: '1970-01-01T00:00:00Z' }),
      await api.post(`/admin/v1/messages/${UNKNOWN}/discard`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
  });

  /** A message to a bot, as a webhook would carry it. */
  async function botMessage(teamId: string, botId: string): Promise<string> {
    const [row] = await service.sql<{ id: string }>(
      `WITH target AS (
         INSERT INTO targets (app_id, kind, team_id, bot_id)
         SELECT id, 'bot', $1, $2 FROM apps WHERE name = 'default' RETURNING id, app_id)
       INSERT INTO messages (id, app_id, target_id, state, body)
       SELECT gen_random_uuid(), target.app_id, target.id, 'pending', '{}' FROM target RETURNING id`,
      [teamId, botId],
    );
    return toPublicId('msg', row!.id);
  }
});
