import { describe, expect, it } from '@jest/globals';
import { Drain } from '../src/common/drain.js';
import { CallDeliveries } from '../src/delivery/call-deliveries.repository.js';
import { DeliveryWaiters } from '../src/delivery/pull/delivery-waiters.js';
import { fromPublicId, toPublicId } from '../src/common/ids.js';
import { TurnService } from '../src/targets/turn.service.js';
import { useDeliveryServices } from './support/delivery-fixture.js';
import { AGENT_KEY, DeliveryService, messagesOf } from './support/delivery-service.js';
import { eventually } from './support/eventually.js';
import type { TestDatabase } from './support/test-database.js';

const FOREIGN_APP = '01935f2e-0000-7000-8000-00000000f0f0';

let database: TestDatabase;
let service: DeliveryService;
let replica: DeliveryService;
let session: string;
useDeliveryServices((fresh) => ({ database, service, replica, session } = fresh));

function pollText(): Promise<string> {
  return service.send('GET', `/v1/sessions/${session}/messages`).then(({ text }) => text);
}

async function endVisibility(): Promise<void> {
  await service.database.query(
    `UPDATE targets SET hidden_until = now() - interval '1 ms' WHERE session_id = $1`,
    [session],
  );
}

/** What other tests left is not to be found by a poll of the whole app. */
async function forgetOtherSessions(): Promise<void> {
  await service.database.query('UPDATE targets SET undelivered_since = NULL');
}

async function waiting(on = service): Promise<void> {
  await eventually('a poll waits', () => on.get(DeliveryWaiters).size > 0);
}

describe('messages of a session', () => {
  it('are an empty list for an unknown session', async () => {
    expect(await pollText()).toBe('{"data":[]}');
  });

  it('tell of a call that ended while no turn runs', async () => {
    const callId = await service.endCall(session);
    const [message] = await service.poll(session);
    expect(message).toMatchObject({
      kind: 'background_call.result',
      target: { type: 'session', sessionId: session },
      notifications: [{ callId: toPublicId('bgc', callId), status: 'completed' }],
    });
    expect(message?.text).toMatch(/^【后台调用完成】/);
  });

  it('speak the language of the settings', async () => {
    await service.set({ messages: { locale: 'en' } });
    await service.endCall(session);
    expect((await service.poll(session))[0]?.text).toMatch(/^\[Background call completed\]/);
  });

  it('wait while the turn runs, and come as one when it ends, oldest first', async () => {
    await service.startTurn(session, 'turn-1');
    await service.endCall(session, { tool: 'first' });
    await service.endCall(session, { tool: 'second' });
    expect(await service.poll(session)).toEqual([]);
    await service.endTurn(session, 'turn-1');
    const messages = await service.poll(session);
    expect(messages).toHaveLength(1);
    expect(messages[0]?.notifications.map(({ tool }) => tool)).toEqual(['first', 'second']);
  });

  it('still wait when an older turn ends late', async () => {
    await service.startTurn(session, 'older');
    await service.startTurn(session, 'newer');
    await service.endCall(session);
    await service.endTurn(session, 'older');
    expect(await service.poll(session)).toEqual([]);
    await service.endTurn(session, 'newer');
    expect(await service.poll(session)).toHaveLength(1);
  });

  it('come one at a time: the next one after the acknowledgement', async () => {
    await service.endCall(session, { tool: 'first' });
    const [first] = await service.poll(session);
    await service.endCall(session, { tool: 'second' });
    expect(await service.poll(session)).toEqual([]);
    await service.acknowledge(first!.id);
    const [second] = await service.poll(session);
    expect(second?.notifications.map(({ tool }) => tool)).toEqual(['second']);
  });

  it('come again with the same id and the same bytes when nobody acknowledged them', async () => {
    const callId = await service.endCall(session, { preview: 'a "quoted" \u0000 \ud800 😀' });
    const first = await pollText();
    expect(await pollText()).toBe('{"data":[]}');
    await service.endCall(session, { tool: 'later' });
    await service.set({ messages: { locale: 'en' } });
    await endVisibility();
    expect(await pollText()).toBe(first);
    const deliveries = await service.get(CallDeliveries).of(service.database, [callId]);
    expect(deliveries.get(callId)?.message).toMatchObject({ state: 'pending', attempts: 2 });
  });

  it.each(['', '?wait=60'])(
    'are not handed out to a HEAD%s, which has no use for them',
    async (query) => {
      const callId = await service.endCall(session);
      for (const path of [`/v1/sessions/${session}/messages`, '/v1/messages'])
        expect((await service.send('HEAD', path + query)).status).toBe(200);
      const [message] = await service.poll(session);
      expect(message?.notifications).toMatchObject([{ callId: toPublicId('bgc', callId) }]);
    },
  );

  it('do not come again into a turn that began meanwhile', async () => {
    await service.endCall(session);
    await service.poll(session);
    await service.startTurn(session, 'turn-1');
    await endVisibility();
    expect(await service.poll(session)).toEqual([]);
  });

  it('wait while a foreground call holds the turn', async () => {
    const address = { type: 'session', sessionId: session } as const;
    const hold = await service.get(TurnService).hold(service.appId, address, 'turn-1');
    await service.endCall(session);
    expect(await service.poll(session)).toEqual([]);
    hold.release();
  });

  it('do not belong to another session', async () => {
    await service.endCall(session);
    expect(await service.poll(`${session}-other`)).toEqual([]);
  });

  it('are bounded: what has no room comes next, oldest first', async () => {
    const tools = Array.from({ length: 22 }, (_, index) => `tool-${index}`);
    for (const tool of tools) await service.endCall(session, { tool });
    const [first] = await service.poll(session);
    expect(first?.notifications.map(({ tool }) => tool)).toEqual(tools.slice(0, 20));
    await service.acknowledge(first!.id);
    const [second] = await service.poll(session);
    expect(second?.notifications.map(({ tool }) => tool)).toEqual(tools.slice(20));
  });
});

describe('messages of an app', () => {
  it('are at most one a session, at most 100', async () => {
    for (let index = 0; index < 102; index++) await service.endCall(`${session}-${index}`);
    await service.endCall(`${session}-0`);
    const first = await service.pollAll();
    expect(first).toHaveLength(100);
    const second = await service.pollAll();
    const targets = [...first, ...second].map(({ target }) => target.sessionId);
    expect(new Set(targets).size).toBe(targets.length);
    expect(targets).toEqual(expect.arrayContaining([`${session}-0`, `${session}-101`]));
    expect(await service.pollAll()).toEqual([]);
  });

  it('leave out sessions whose turn runs, bots and other apps', async () => {
    await service.database.query(`INSERT INTO apps (id, name) VALUES ($1, 'foreign')`, [
      FOREIGN_APP,
    ]);
    await service.startTurn(session, 'turn-1');
    await service.endCall(session);
    await service.database.query(
      `INSERT INTO targets (app_id, kind, session_id, team_id, bot_id, undelivered_since)
       VALUES ($1, 'session', 's', NULL, NULL, now()), ($2, 'bot', NULL, 't', 'b', now())`,
      [FOREIGN_APP, service.appId],
    );
    expect(await service.pollAll()).toEqual([]);
  });
});

describe('an acknowledgement', () => {
  it('ends the delivery and may be repeated', async () => {
    const callId = await service.endCall(session);
    const [message] = await service.poll(session);
    const first = await service.acknowledge(message!.id);
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({ id: message!.id, state: 'delivered', attempts: 1 });
    const again = await service.acknowledge(message!.id);
    expect([again.status, again.text]).toEqual([200, first.text]);
    await endVisibility();
    expect(await service.poll(session)).toEqual([]);
    const delivery = (await service.get(CallDeliveries).of(service.database, [callId])).get(callId);
    expect(delivery?.message).toEqual({
      id: fromPublicId('msg', message!.id),
      state: 'delivered',
      attempts: 1,
    });
    expect(delivery?.notifiedAt).toBeInstanceOf(Date);
  });

  it('opens the turn that it names, so that the next message waits for its end', async () => {
    await service.endCall(session, { tool: 'first' });
    const [message] = await service.poll(session);
    await service.endCall(session, { tool: 'second' });
    await service.acknowledge(message!.id, 'turn-2');
    expect(await service.poll(session)).toEqual([]);
    await service.endTurn(session, 'turn-2');
    expect(await service.poll(session)).toHaveLength(1);
  });

  it('opens a turn at the first time only', async () => {
    await service.endCall(session);
    const [message] = await service.poll(session);
    await service.acknowledge(message!.id);
    await service.acknowledge(message!.id, 'late');
    await service.endCall(session);
    expect(await service.poll(session)).toHaveLength(1);
  });

  it('is not found for unknown, malformed and foreign ids, which look alike', async () => {
    const foreign = '01935f2e-0000-7000-8000-00000000f0f1';
    await service.database.query(
      `WITH target AS (
         INSERT INTO targets (app_id, kind, session_id) VALUES ($2, 'session', 'f') RETURNING id)
       INSERT INTO messages (id, app_id, target_id, state, body)
       SELECT $1, $2, target.id, 'pending', '{}' FROM target`,
      [foreign, FOREIGN_APP],
    );
    const unknown = '01935f2e-0000-7000-8000-00000000f0f2';
    const bodies = [];
    for (const id of [toPublicId('msg', foreign), toPublicId('msg', unknown), 'msg_x', 'x']) {
      const response = await service.acknowledge(id);
      expect(response.status).toBe(404);
      const { requestId: _, instance: __, ...body } = response.body as Record<string, unknown>;
      bodies.push(body);
    }
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
  });

  it('refuses a turn id that no engine makes', async () => {
    const response = await service.acknowledge(toPublicId('msg', FOREIGN_APP), 'a b');
    expect(response.body).toMatchObject({ status: 400, errors: [{ pointer: '/turnId' }] });
  });
});

describe('a long poll', () => {
  it('is woken by a call that ends on another replica', async () => {
    const poll = service.poll(session, 30);
    await waiting();
    await replica.endCall(session);
    expect(await poll).toHaveLength(1);
  });

  it('of the whole app is woken by a call of any session', async () => {
    await forgetOtherSessions();
    const poll = service.pollAll(30);
    await waiting();
    await replica.endCall(session);
    expect((await poll).map(({ target }) => target.sessionId)).toEqual([session]);
  });

  it('is woken by the end of the turn', async () => {
    await service.startTurn(session, 'turn-1');
    await service.endCall(session);
    const poll = service.poll(session, 30);
    await waiting();
    await service.endTurn(session, 'turn-1');
    expect(await poll).toHaveLength(1);
  });

  it('is woken by the acknowledgement of the message before', async () => {
    await service.endCall(session);
    const [first] = await service.poll(session);
    await service.endCall(session);
    const poll = service.poll(session, 30);
    await waiting();
    await service.acknowledge(first!.id);
    expect(await poll).toHaveLength(1);
  });

  it('notices that the visibility of a message is over', async () => {
    await service.set({ delivery: { visibilitySec: 0.3 } });
    await service.endCall(session);
    const [first] = await service.poll(session);
    expect((await service.poll(session, 30)).map(({ id }) => id)).toEqual([first!.id]);
  });

  it('notices that a turn has run out of time, which is then over for good', async () => {
    await service.set({ turns: { idleTimeoutSec: 0.3 } });
    await service.startTurn(session, 'silent');
    await service.endCall(session);
    expect(await service.poll(session, 30)).toHaveLength(1);
    expect((await service.touchTurn(session, 'silent')).body).toMatchObject({ running: false });
    expect((await service.startTurn(session, 'silent')).body).toMatchObject({ running: false });
  });

  it('notices that a turn which an acknowledgement has opened has run out of time', async () => {
    await service.endCall(session, { tool: 'first' });
    const [first] = await service.poll(session);
    await service.endCall(session, { tool: 'second' });
    await service.acknowledge(first!.id, 'silent');
    expect(await service.poll(session)).toEqual([]);
    const poll = service.poll(session, 30);
    await waiting();
    await service.database.query(
      `UPDATE targets SET turn_expires_at = now() - interval '1 ms' WHERE session_id = $1`,
      [session],
    );
    const [second] = await poll;
    expect(second?.notifications.map(({ tool }) => tool)).toEqual(['second']);
    expect((await service.startTurn(session, 'silent')).body).toMatchObject({ running: false });
  });

  it('notices a turn that runs out for a poll of the whole app', async () => {
    await forgetOtherSessions();
    await service.set({ turns: { idleTimeoutSec: 0.3 } });
    await service.startTurn(session, 'silent');
    await service.endCall(session);
    const messages = await service.pollAll(30);
    expect(messages.map(({ target }) => target.sessionId)).toEqual([session]);
  });

  it('ends empty when its time is over', async () => {
    expect(await service.poll(session, 0.2)).toEqual([]);
  });

  it('stops waiting when its client is gone, and takes nothing', async () => {
    const client = new AbortController();
    const poll = fetch(
      `${await service.base.app.getUrl()}/v1/sessions/${session}/messages?wait=30`,
      {
        headers: { authorization: `Bearer ${AGENT_KEY}` },
        signal: client.signal,
      },
    ).catch(() => undefined);
    await waiting();
    client.abort();
    await poll;
    await eventually('nobody waits', () => service.get(DeliveryWaiters).size === 0);
    const callId = await service.endCall(session);
    expect(await service.poll(session)).toHaveLength(1);
    const deliveries = await service.get(CallDeliveries).of(service.database, [callId]);
    expect(deliveries.get(callId)?.message?.attempts).toBe(1);
  });

  it.each(['61', '-1', 'x', '1e999'])('refuses to wait for %j seconds', async (wait) => {
    const response = await service.send('GET', `/v1/messages?wait=${wait}`);
    expect(response.status).toBe(400);
  });

  it('ends at once when the process leaves', async () => {
    const leaving = await DeliveryService.start(database.url);
    const poll = leaving.send('GET', `/v1/sessions/${session}/messages?wait=60`);
    await waiting(leaving);
    leaving.get(Drain).begin();
    expect(messagesOf(await poll)).toEqual([]);
    await leaving.close();
  });
});
