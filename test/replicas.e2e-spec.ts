import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Engine } from './support/engine.js';
import { McpTestServer } from './support/mcp-server.js';
import { ServiceProcess } from './support/service-process.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const LEASE_SEC = 1;

describe('two replicas on one database', () => {
  let upstream: McpTestServer;
  let database: TestDatabase;
  let owner: ServiceProcess;
  let other: ServiceProcess;
  let mine: Engine;
  let theirs: Engine;

  beforeAll(async () => {
    upstream = await McpTestServer.start();
    database = await createTestDatabase();
    other = await start();
    const server = { name: 'test', title: 'Test', url: upstream.url };
    expect((await other.admin.post('/admin/v1/mcp-servers', server)).status).toBe(201);
  }, 60_000);

  afterAll(async () => {
    await other.end('SIGKILL');
    await upstream.stop();
    await database.drop();
  });

  let count = 0;
  beforeEach(async () => {
    upstream.calls.length = upstream.aborted.length = upstream.cancelled.length = 0;
    owner = await start();
    const sessionId = `session-${count++}`;
    mine = owner.session(sessionId);
    theirs = other.session(sessionId);
  });

  afterEach(async () => {
    owner.signal('SIGCONT');
    await owner.end('SIGKILL');
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
    const waits = [theirs.get(id, 20), mine.get(id, 20)];
    const poll = theirs.messages(20);
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
    const alive = await theirs.callInBackground('gate', { name: 'alive' });
    await upstream.untilCalled(2);
    await owner.end('SIGKILL');
    const killed = performance.now();
    const call = await theirs.get(id, 20);
    expect(performance.now() - killed).toBeLessThan((LEASE_SEC + 5) * 1_000);
    expect(call).toMatchObject({ error: { code: 'interrupted' }, outcomeUnknown: true });
    upstream.release('alive');
    expect(await theirs.get(alive.id, 10)).toMatchObject({ status: 'completed' });
    await expectToldOnce([id, alive.id]);
    expect(upstream.calls).toHaveLength(2);
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
    const wish = { background: { mode: 'always', maxHours: 1 / 3_600 } };
    const { id } = await mine.callInBackground('gate', { name: 'deadline' }, wish);
    await upstream.untilCalled(1);
    owner.signal('SIGSTOP');
    expect(await theirs.get(id, 20)).toMatchObject({ error: { code: 'timeout' } });
    owner.signal('SIGCONT');
    await upstream.until(() => upstream.aborted.length === 1);
    await expectToldOnce([id]);
  });

  it('let one that was paused past its lease write nothing about its old calls, and go on', async () => {
    const { id } = await mine.callInBackground('gate', { name: 'paused' });
    const moving = mine.call('gate', { name: 'paused-2' }, { background: { autoAfterSec: 0.8 } });
    await upstream.untilCalled(2);
    owner.signal('SIGSTOP');
    upstream.release('paused');
    expect(await theirs.get(id, 20)).toMatchObject({ error: { code: 'interrupted' } });
    owner.signal('SIGCONT');
    const moved = await moving;
    expect(moved.status).toBe(202);
    upstream.release('paused-2');
    await expectToldOnce([id, moved.body.call.id as string]);
    const late = await mine.callInBackground('echo');
    expect(await theirs.get(late.id, 10)).toMatchObject({ status: 'completed' });
    expect(await mine.get(id)).toMatchObject({ status: 'failed', result: null });
    await expectToldOnce([late.id]);
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

  function start(): Promise<ServiceProcess> {
    return ServiceProcess.start({
      DATABASE_URL: database.url,
      BGC_INSTANCE_HEARTBEAT_SEC: '0.3',
      BGC_INSTANCE_LEASE_SEC: String(LEASE_SEC),
      BGC_DRAIN_SEC: '2',
    });
  }
});
