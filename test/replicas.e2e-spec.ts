import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { fromPublicId } from '../src/common/ids.js';
import { barrier, type Barrier } from './support/barrier.js';
import { instanceOf, recordOf } from './support/call-record.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { textResult } from './support/mcp-tools.js';
import { ServiceProcess } from './support/service-process.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const LEASE_SEC = 1;
const LIVING = 'SELECT 1 FROM instances WHERE lease_until >= now()';
const FENCE = `
  DELETE FROM instances
  WHERE instances.pid = $1`;
const EXPIRE = `
  UPDATE background_calls SET deadline_at = now() - interval '1 ms'
  WHERE background_calls.id = $1`;

describe('three replicas on one database', () => {
  let upstream: McpTestServer;
  let database: TestDatabase;
  let control: Client;
  let owner: ServiceProcess;
  let other: ServiceProcess;
  let third: ServiceProcess;
  let newcomer: ServiceProcess | undefined;
  /** One session at each of them. */
  let mine: Engine;
  let theirs: Engine;
  let thirds: Engine;
  /** Holds the tool `held` back, which does not care about being cancelled. */
  let hold: Barrier;

  beforeAll(async () => {
    const held = async (): Promise<ReturnType<typeof textResult>> => {
      await hold.opened;
      return textResult('held');
    };
    upstream = await McpTestServer.start({ tools: { held } });
    database = await createTestDatabase();
    control = new Client({ connectionString: database.url });
    await control.connect();
    [other, third] = await Promise.all([start(), start()]);
    await other.register('test', upstream.url);
  }, 60_000);

  afterAll(async () => {
    await Promise.all([other?.end('SIGKILL'), third?.end('SIGKILL')]);
    await upstream.stop();
    await control.end();
    await database.drop();
  });

  let count = 0;
  beforeEach(async () => {
    upstream.forgetCalls();
    hold = barrier();
    owner = await start();
    const sessionId = `session-${count++}`;
    mine = owner.session(sessionId);
    theirs = other.session(sessionId);
    thirds = third.session(sessionId);
  });

  afterEach(async () => {
    owner.signal('SIGCONT');
    await Promise.all([owner.end('SIGKILL'), newcomer?.end('SIGKILL')]);
  });

  it('carry out a cancel whichever of them is asked', async () => {
    const { id } = await mine.callInBackground('gate', { name: 'cancelled' });
    await upstream.untilCalled(1);
    expect((await theirs.cancel(id)).status).toBe(202);
    expect(await theirs.get(id, 10)).toMatchObject({ status: 'cancelled' });
    expect(upstream.aborted).toEqual(['gate']);
    expect(await theirs.receive([id])).toHaveLength(1);
  });

  it('tell the end of a call to whoever waits, whichever of them is asked', async () => {
    const { id } = await mine.callInBackground('gate', { name: 'waited-for' });
    const waits = [theirs, thirds, mine].map((each) => each.get(id, 20));
    const poll = thirds.messages(20);
    upstream.release('waited-for');
    for (const call of await Promise.all(waits)) expect(call.status).toBe('completed');
    const messages = await poll;
    expect(messages).toHaveLength(1);
    expect(await mine.messages()).toEqual([]);
    expect((await mine.ack(messages[0].id)).status).toBe(200);
  });

  it('stop a foreground call whose turn is interrupted at the other one', async () => {
    const call = mine.call('gate', { name: 'stopped' }, { turnId: 'turn-1' });
    await upstream.untilCalled(1);
    await theirs.endTurn('turn-1', { interrupted: true });
    expect(await call).toMatchObject({ status: 409, body: { code: 'turn_interrupted' } });
    await upstream.until(() => upstream.aborted.length === 1);
  });

  it('end the calls of one that was killed, soon and once, and leave those of the others alone', async () => {
    const { id } = await mine.callInBackground('gate', { name: 'dead' });
    const living = [
      await theirs.callInBackground('gate', { name: 'alive-1' }),
      await thirds.callInBackground('gate', { name: 'alive-2' }),
    ];
    await upstream.untilCalled(3);
    const before = await Promise.all(living.map((call) => recordOf(control, call.id)));
    await owner.end('SIGKILL');
    const killed = performance.now();
    const [call] = await Promise.all([theirs.get(id, 20), thirds.get(id, 20)]);
    expect(performance.now() - killed).toBeLessThan((LEASE_SEC + 4) * 1_000);
    expect(call).toMatchObject({ error: { code: 'interrupted' }, outcomeUnknown: true });
    const owners = await Promise.all([other, third].map(({ pid }) => instanceOf(control, pid)));
    expect(before.map(({ ownerId }) => ownerId)).toEqual(owners);
    for (const [index, record] of before.entries()) {
      expect(await recordOf(control, living[index]!.id)).toEqual(record);
      upstream.release(`alive-${index + 1}`);
      expect(await theirs.get(living[index]!.id, 10)).toMatchObject({ status: 'completed' });
    }
    expect(await recordOf(control, id)).toMatchObject({ notifications: 1, results: 0 });
    await expectToldOnce([id, ...living.map((each) => each.id)]);
    expect(upstream.calls).toHaveLength(3);
  });

  it('end a call as cancelled that was to be cancelled when its owner was killed', async () => {
    const { id } = await mine.callInBackground('gate', { name: 'cancel-dead' });
    await upstream.untilCalled(1);
    owner.signal('SIGSTOP');
    expect((await theirs.cancel(id)).status).toBe(202);
    await owner.end('SIGKILL');
    expect(await theirs.get(id, 20)).toMatchObject({ status: 'cancelled', error: null });
    await expectToldOnce([id]);
  });

  it('end a call as cancelled whose owner does not move', async () => {
    const { id } = await mine.callInBackground('gate', { name: 'cancel-paused' });
    await upstream.untilCalled(1);
    owner.signal('SIGSTOP');
    expect((await theirs.cancel(id)).status).toBe(202);
    expect(await theirs.get(id, 20)).toMatchObject({ status: 'cancelled' });
    owner.signal('SIGCONT');
    await upstream.until(() => upstream.aborted.length === 1);
    await expectToldOnce([id]);
  });

  it('end a call at its deadline whose owner does not move', async () => {
    // It keeps its lease, so that the deadline alone can end the call.
    await owner.end('SIGKILL');
    owner = await start({ BGC_INSTANCE_LEASE_SEC: '3600' });
    mine = owner.session(mine.sessionId);
    const wish = { background: { mode: 'always', maxHours: 1 / 3_600 } };
    const { id } = await mine.callInBackground('gate', { name: 'deadline' }, wish);
    await upstream.untilCalled(1);
    owner.signal('SIGSTOP');
    expect(await theirs.get(id, 20)).toMatchObject({ error: { code: 'timeout' } });
    owner.signal('SIGCONT');
    await upstream.until(() => upstream.aborted.length === 1);
    await expectToldOnce([id]);
    // Its lease would outlive it.
    expect(await owner.end('SIGTERM')).toBe(0);
  });

  it('let one that was paused past its lease write nothing about its old calls, and go on under a new id', async () => {
    const { id } = await mine.callInBackground('gate', { name: 'paused' });
    const held = await mine.callInBackground('held');
    await upstream.untilCalled(2);
    const oldId = await instanceOf(control, owner.pid);
    owner.signal('SIGSTOP');
    upstream.release('paused');
    for (const callId of [id, held.id])
      expect(await theirs.get(callId, 20)).toMatchObject({ error: { code: 'interrupted' } });
    const before = [await recordOf(control, id), await recordOf(control, held.id)];
    expect(before).toMatchObject([{ ownerId: oldId }, { ownerId: oldId }]);

    owner.signal('SIGCONT');
    const newId = await eventually('it has a new id', () => instanceOf(control, owner.pid));
    expect(newId).not.toBe(oldId);
    hold.open();
    const late = await mine.callInBackground('echo');
    expect(await theirs.get(late.id, 10)).toMatchObject({ status: 'completed' });
    expect(await recordOf(control, late.id)).toMatchObject({ ownerId: newId });
    await upstream.until(() => upstream.openStreams('tools/call') === 0);
    expect([await recordOf(control, id), await recordOf(control, held.id)]).toEqual(before);
    await expectToldOnce([id, held.id, late.id]);
  });

  it('let one that was fenced write no result, even before it knows of that', async () => {
    const { id } = await mine.callInBackground('held');
    await upstream.untilCalled(1);
    await control.query(FENCE, [owner.pid]);
    hold.open();
    expect(await theirs.get(id, 20)).toMatchObject({ error: { code: 'interrupted' } });
    expect(await recordOf(control, id)).toMatchObject({ results: 0, notifications: 1 });
    await expectToldOnce([id]);
  });

  it('let a call that was moving when its process was paused past the lease move under the new id', async () => {
    const moving = mine.call('gate', { name: 'moving' }, { background: { autoAfterSec: 1.5 } });
    await upstream.untilCalled(1);
    const oldId = await instanceOf(control, owner.pid);
    owner.signal('SIGSTOP');
    await eventually('it is fenced', async () => !(await instanceOf(control, owner.pid)));
    owner.signal('SIGCONT');
    const { status, body } = await moving;
    expect(status).toBe(202);
    expect((await recordOf(control, body.call.id as string)).ownerId).not.toBe(oldId);
    upstream.release('moving');
    await expectToldOnce([body.call.id as string]);
  });

  it('leave everything alone that lives while they have not held the database for a whole lease', async () => {
    const kept = await mine.callInBackground('gate', { name: 'kept' });
    const [first, second] = [
      await mine.callInBackground('held'),
      await mine.callInBackground('held'),
    ];
    await upstream.untilCalled(3);
    const before = await recordOf(control, kept.id);
    for (const each of [owner, other, third]) each.signal('SIGSTOP');
    await eventually('every lease has run out', async () => {
      return (await control.query(LIVING)).rows.length === 0;
    });
    newcomer = await start({ BGC_INSTANCE_LEASE_SEC: '3600' });
    // Each of the two is ended by a sweep, so a whole sweep lies between them.
    for (const { id } of [first, second]) {
      await control.query(EXPIRE, [fromPublicId('bgc', id)]);
      expect(await newcomer.session(mine.sessionId).get(id, 20)).toMatchObject({
        error: { code: 'timeout' },
      });
    }
    expect(await recordOf(control, kept.id)).toEqual(before);

    for (const each of [owner, other, third]) each.signal('SIGCONT');
    upstream.release('kept');
    expect(await mine.get(kept.id, 10)).toMatchObject({ status: 'completed' });
    expect((await recordOf(control, kept.id)).ownerId).toBe(before.ownerId);
    expect(await instanceOf(control, owner.pid)).toBe(before.ownerId);
    hold.open();
    await expectToldOnce([kept.id, first.id, second.id]);
  });

  /** Nothing else is told, and each of the calls once. */
  async function expectToldOnce(ids: string[]): Promise<void> {
    const messages = await theirs.receive(ids);
    const told = messages.flatMap(({ notifications }) =>
      notifications.map(({ callId }: { callId: string }) => callId),
    );
    expect([...told].sort()).toEqual([...ids].sort());
    expect(await theirs.messages()).toEqual([]);
  }

  function start(env: Record<string, string> = {}): Promise<ServiceProcess> {
    return ServiceProcess.start({
      DATABASE_URL: database.url,
      BGC_INSTANCE_HEARTBEAT_SEC: '0.3',
      BGC_INSTANCE_LEASE_SEC: String(LEASE_SEC),
      BGC_DRAIN_SEC: '2',
      ...env,
    });
  }
});
