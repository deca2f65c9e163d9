import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Settings } from '../src/settings/settings.js';
import { anAskingCall } from './support/asking-work.js';
import { Api } from './support/api.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { PostgresProxy } from './support/postgres-proxy.js';
import { KEYS } from './support/keys.js';
import { TestService } from './support/service.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

/** No heartbeat comes to help: what was not told is found when it can be told again, or never. */
const RARE_HEARTBEAT = { BGC_INSTANCE_HEARTBEAT_SEC: '300', BGC_INSTANCE_LEASE_SEC: '3600' };
/** A second on a machine that is busy; a lost listener connects again after half a second. */
const LEARNS_WITHIN_MS = { listens: 2_000, 'listens again': 4_000 };

describe.each(['listens', 'listens again'] as const)(
  'a replica that %s carries out what another one was asked',
  (hearing) => {
    let database: TestDatabase;
    let proxy: PostgresProxy;
    let upstream: McpTestServer;
    /** The replica that is asked, and the one that has to learn of it. */
    let here: TestService;
    let there: TestService;
    /** One session at both. */
    let atHere: Engine;
    let atThere: Engine;

    beforeAll(async () => {
      database = await createTestDatabase();
      proxy = await PostgresProxy.start(database.url);
      upstream = await McpTestServer.start();
      here = await TestService.start({ database, env: RARE_HEARTBEAT });
      const farDatabase = { ...database, url: proxy.url };
      there = await TestService.start({ database: farDatabase, env: RARE_HEARTBEAT });
      await here.register('test', upstream.url);
      await thereLearns('of the server', async () => knows('test'));
    });

    beforeEach(() => {
      upstream.forgetCalls();
      atHere = here.session();
      atThere = there.session(atHere.sessionId);
    });

    afterEach(() => proxy.restore());

    afterAll(async () => {
      await Promise.all([here?.stop(), there?.stop()]);
      await upstream.stop();
      await proxy.stop();
      await database.drop();
    });

    it('a cancel', async () => {
      const { id } = await atThere.callInBackground('gate', { name: 'cancelled' });
      await upstream.untilCalled(1);
      await ask(async () => expect((await atHere.cancel(id)).status).toBe(202));
      await thereLearns('of the cancel', () => upstream.aborted.length === 1);
      expect(await atHere.get(id, 10)).toMatchObject({ status: 'cancelled', error: null });
      expect(await atThere.receive([id])).toHaveLength(1);
    });

    it('an answer to what a call asks', async () => {
      const { id, work } = await anAskingCall(there, atThere.sessionId);
      const answered = work.ask();
      await eventually('it asks', async () => (await atHere.get(id)).status === 'input_required');
      const body = { action: 'accept', content: { ok: false } };
      await ask(async () => expect((await atHere.answer(id, body)).status).toBe(200));
      const begun = performance.now();
      expect(await answered).toEqual(body);
      expect(performance.now() - begun).toBeLessThan(LEARNS_WITHIN_MS[hearing]);
      expect(await atThere.get(id)).toMatchObject({ status: 'running' });
      work.complete();
      expect(await atHere.get(id, 10)).toMatchObject({ status: 'completed' });
    });

    it('the stop of a foreground call whose turn was interrupted', async () => {
      const call = atThere.call('gate', { name: 'stopped' }, { turnId: 'turn-1' });
      await upstream.untilCalled(1);
      await ask(() => atHere.endTurn('turn-1', { interrupted: true }));
      await thereLearns('of the interruption', () => upstream.aborted.length === 1);
      expect(await call).toMatchObject({ status: 409, body: { code: 'turn_interrupted' } });
    });

    it('the refusal of further calls of an interrupted turn', async () => {
      expect((await atThere.call('echo', {}, { turnId: 'turn-1' })).status).toBe(200);
      await ask(() => atHere.endTurn('turn-1', { interrupted: true }));
      await thereLearns('of the interruption', async () => {
        return (await atThere.call('echo', {}, { turnId: 'turn-1' })).status === 409;
      });
    });

    it('the handing out of a message when the turn ends', async () => {
      await atThere.startTurn('turn-1');
      const { id } = await atThere.callInBackground('echo');
      await atThere.get(id, 10);
      const poll = timed(atThere.messages(20));
      await ask(() => atHere.endTurn('turn-1'));
      const { answer, ms } = await poll;
      expect(answer).toMatchObject([{ notifications: [{ callId: id }] }]);
      expect(ms).toBeLessThan(LEARNS_WITHIN_MS[hearing]);
    });

    it('the handing out of the next message after an acknowledgement', async () => {
      const first = await atThere.callInBackground('echo');
      const [message] = await atThere.messages(10);
      const second = await atThere.callInBackground('echo');
      await atThere.get(second.id, 10);
      const poll = timed(atThere.messages(20));
      await ask(async () => expect((await atHere.ack(message.id)).status).toBe(200));
      const { answer, ms } = await poll;
      expect(message.notifications).toMatchObject([{ callId: first.id }]);
      expect(answer).toMatchObject([{ notifications: [{ callId: second.id }] }]);
      expect(ms).toBeLessThan(LEARNS_WITHIN_MS[hearing]);
    });

    it('the turn that an acknowledgement opens', async () => {
      await atThere.receive([(await atThere.callInBackground('echo')).id]);
      const { id } = await atThere.callInBackground('echo');
      const [message] = await atThere.messages(10);
      await ask(() => atHere.ack(message.id, { turnId: 'turn-2' }));
      const later = await atThere.callInBackground('echo');
      await atThere.get(later.id, 10);
      expect(await atThere.messages()).toEqual([]);
      await atHere.endTurn('turn-2');
      expect(await atThere.receive([later.id])).toHaveLength(1);
      expect(message.notifications).toMatchObject([{ callId: id }]);
    });

    it('the end of a wait for a call', async () => {
      const { id } = await atHere.callInBackground('gate', { name: 'waited-for' });
      await upstream.untilCalled(1);
      const wait = timed(atThere.get(id, 20));
      await ask(async () => {
        upstream.release('waited-for');
        await atHere.get(id, 10);
      });
      const { answer, ms } = await wait;
      expect(answer).toMatchObject({ status: 'completed' });
      expect(ms).toBeLessThan(LEARNS_WITHIN_MS[hearing]);
    });

    it('a change of the settings', async () => {
      const { foreground } = there.get(Settings).current;
      await ask(() => here.settings({ foreground: { timeoutSec: foreground.timeoutSec - 1 } }));
      await thereLearns(
        'of the settings',
        () => there.get(Settings).current.foreground.timeoutSec === foreground.timeoutSec - 1,
      );
    });

    it('a registration, a mark of a tool, and the switching off of a server', async () => {
      let id = '';
      await ask(async () => (id = await here.register('new', upstream.url)));
      await thereLearns('of the server', () => knows('new'));
      await ask(() => here.markTool(id, 'echo', 'always'));
      await thereLearns('of the mark', async () => {
        return (await atThere.call('echo', {}, { server: 'new' })).status === 202;
      });
      const path = `/admin/v1/mcp-servers/${id}`;
      await ask(() => here.admin.patch(path, { enabled: false }));
      await thereLearns('of the switch', async () => !(await knows('new')));
    });

    // The last one: after it the key of the other tests is not valid any more.
    it('the revocation of a key', async () => {
      const key = 'agent-key-that-replaces-another';
      const successor = { ...KEYS, ...RARE_HEARTBEAT, BGC_AGENT_KEY: key };
      await ask(async () => (await TestService.start({ database, env: successor })).stop());
      const path = `/v1/sessions/${atThere.sessionId}/background-calls`;
      await thereLearns('of the revocation', async () => {
        return (await there.agent.get(path)).status === 401;
      });
      expect((await new Api(there.url, key).get(path)).status).toBe(200);
    });

    /** Does it while the other replica listens, or so that it can't hear of it. */
    async function ask(verb: () => Promise<unknown>): Promise<void> {
      if (hearing === 'listens again') proxy.cutListeners();
      await verb();
      proxy.restore();
    }

    async function thereLearns(
      what: string,
      look: () => boolean | Promise<boolean>,
    ): Promise<void> {
      await eventually(`it learns ${what}`, look, LEARNS_WITHIN_MS[hearing]);
    }

    async function knows(server: string): Promise<boolean> {
      return (await there.session().call('echo', {}, { server })).status === 200;
    }
  },
);

/** With the milliseconds that it took. */
async function timed<T>(work: Promise<T>): Promise<{ answer: T; ms: number }> {
  const begun = performance.now();
  const answer = await work;
  return { answer, ms: performance.now() - begun };
}
