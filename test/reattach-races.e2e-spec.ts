import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { BackgroundCall } from '../src/background-calls/background-call.js';
import { BackgroundCallRegistry } from '../src/background-calls/background-call.registry.js';
import { CallTakeOver } from '../src/background-calls/take-over/call-take-over.js';
import { CallDriver } from '../src/background-calls/call-driver.js';
import { InFlightCalls } from '../src/background-calls/in-flight/in-flight-calls.js';
import { InputRequestRegistry } from '../src/background-calls/questions/input-request.registry.js';
import { toPublicId } from '../src/common/ids.js';
import { InstanceRepository } from '../src/instances/instance.repository.js';
import { InstanceLease } from '../src/instances/instance-lease.js';
import { Database } from '../src/database/database.js';
import { CallSweeper } from '../src/recovery/call-sweeper.js';
import { RecoveryService } from '../src/recovery/recovery.service.js';
import { aHandoverRequest } from './support/a-handover-request.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { PlayedWork } from './support/played-work.js';
import { TestService } from './support/service.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

/** No heartbeat and no sweep gets in between: the tests take over by themselves. */
const BY_HAND = { BGC_INSTANCE_HEARTBEAT_SEC: '300', BGC_INSTANCE_LEASE_SEC: '3600' };
const REFERENCE = { kind: 'task', taskId: 'task-1' };
const KILL_OWNER = 'UPDATE background_calls SET owner_id = gen_random_uuid() WHERE id = $1';
const BLOCKED = `
  SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Goes on with work that the test plays. */
class PlayedDriver extends CallDriver {
  readonly resumed: PlayedWork[] = [];

  start(): never {
    throw new Error('nothing is begun here');
  }

  resume(): PlayedWork {
    const work = new PlayedWork();
    this.resumed.push(work);
    return work;
  }
}

/** What two replicas do at once waits at the lock of the target, until both are on their way. */
describe('a call whose owner is gone', () => {
  let database: TestDatabase;
  let control: Client;
  /** Outside of any transaction: inside of one pg_stat_activity would not change. */
  let observer: Client;
  let replicas: TestService[];
  let drivers: PlayedDriver[];
  let engine: Engine;
  let call: BackgroundCall;

  beforeAll(async () => {
    database = await createTestDatabase();
    [control, observer] = [database, database].map(
      ({ url }) => new Client({ connectionString: url }),
    ) as [Client, Client];
    await Promise.all([control.connect(), observer.connect()]);
    replicas = [];
    for (let n = 0; n < 2; n++) replicas.push(await TestService.start({ database, env: BY_HAND }));
    for (const replica of replicas) await replica.get(RecoveryService).stop();
  });

  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await Promise.all([control.end(), observer.end()]);
    await database.drop();
  });

  beforeEach(async () => {
    drivers = replicas.map((replica) => {
      const driver = new PlayedDriver();
      replica.get(CallTakeOver).useDriver(driver);
      return driver;
    });
    engine = replicas[0]!.session();
    call = await ofDeadOwner();
  });

  it('is taken over by one of two replicas that want it at the same time', async () => {
    await lockTarget();
    const takes = replicas.map((replica) => replica.get(CallTakeOver).take(call));
    await blocked(2);
    await control.query('COMMIT');
    const winners = (await Promise.all(takes)).filter((taken) => taken !== undefined);
    expect(winners).toHaveLength(1);
    expect(works()).toHaveLength(1);
    works()[0]?.succeed('done');
    expect(await ended()).toMatchObject({ status: 'completed' });
    expect(await engine.receive([publicId()])).toHaveLength(1);
  });

  it('ends as cancelled when the cancel is written before the take-over', async () => {
    await lockTarget();
    const take = replicas[1]!.get(CallTakeOver).take(call);
    await blocked(1);
    expect((await engine.cancel(publicId())).status).toBe(202);
    await control.query('COMMIT');
    expect(await take).toBeUndefined();
    expect(works()).toEqual([]);
    expect(replicas[1]!.get(InFlightCalls).has(call.id)).toBe(false);
    await replicas[1]!.get(CallSweeper).sweep();
    expect(await ended()).toMatchObject({ status: 'cancelled', error: null });
    expect(await engine.receive([publicId()])).toHaveLength(1);
  });

  it('ends as cancelled, and its work is told, when the cancel comes right after the take-over', async () => {
    await replicas[1]!.get(CallTakeOver).take(call);
    expect((await engine.cancel(publicId())).status).toBe(202);
    expect(await ended()).toMatchObject({ status: 'cancelled' });
    expect(works()[0]?.stops).toEqual(['cancelled by request']);
  });

  it('runs again when it waited for input: its question is open no longer', async () => {
    const asking = await handOver(replicas[0]!);
    const question = { message: 'Which one?', schema: {} };
    await replicas[0]!.get(InputRequestRegistry).ask(asking, 1, question);
    call = asking;
    expect(await engine.get(publicId())).toMatchObject({ status: 'input_required' });
    await control.query(KILL_OWNER, [asking.id]);
    expect(await replicas[1]!.get(CallTakeOver).take(asking)).toBeDefined();
    const { status, inputRequest } = await engine.get(publicId());
    expect({ status, inputRequest }).toEqual({ status: 'running', inputRequest: null });
    works()[0]?.succeed('done');
    expect(await ended()).toMatchObject({ status: 'completed' });
  });

  it('keeps its deadline, and is not taken over after it', async () => {
    await control.query(
      `UPDATE background_calls SET deadline_at = now() + interval '300 ms' WHERE id = $1`,
      [call.id],
    );
    expect(await replicas[1]!.get(CallTakeOver).take(call)).toBeDefined();
    expect(await ended()).toMatchObject({ status: 'failed', error: { code: 'timeout' } });

    const late = await ofDeadOwner();
    await control.query(
      `UPDATE background_calls SET deadline_at = now() - interval '1 ms' WHERE id = $1`,
      [late.id],
    );
    expect(await replicas[1]!.get(CallTakeOver).take(late)).toBeUndefined();
  });

  it('is not taken over by a process that is fenced itself, nor while its owner lives', async () => {
    const [living] = replicas as [TestService];
    const handed = await handOver(living);
    expect(await replicas[1]!.get(CallTakeOver).take(handed)).toBeUndefined();
    const owner = replicas[1]!.get(InstanceLease).instanceId;
    const saved = await control.query('DELETE FROM instances WHERE id = $1 RETURNING *', [owner]);
    expect(await replicas[1]!.get(CallTakeOver).take(call)).toBeUndefined();
    const { host, pid } = saved.rows[0] as { host: string; pid: number };
    const instances = living.get(InstanceRepository);
    await instances.register(living.get(Database), owner, host, pid, 3_600);
    await eventually('nothing was begun', () => works().length === 0);
  });

  function works(): PlayedWork[] {
    return drivers.flatMap(({ resumed }) => resumed);
  }

  function publicId(): string {
    return toPublicId('bgc', call.id);
  }

  function ended(): Promise<unknown> {
    return engine.get(publicId(), 10);
  }

  async function handOver(replica: TestService): Promise<BackgroundCall> {
    const [app] = await replica.sql<{ id: string }>('SELECT apps.id FROM apps');
    const address = { type: 'session', sessionId: engine.sessionId } as const;
    const changes = { appId: app?.id ?? '', address, reference: REFERENCE, ignoreLimits: true };
    const result = await replica.get(BackgroundCallRegistry).handOver(aHandoverRequest(changes));
    if (result.kind !== 'moved') throw new Error(result.kind);
    return result.call;
  }

  async function ofDeadOwner(): Promise<BackgroundCall> {
    const made = await handOver(replicas[0]!);
    await control.query(KILL_OWNER, [made.id]);
    return made;
  }

  async function lockTarget(): Promise<void> {
    await control.query('BEGIN');
    await control.query('SELECT FROM targets WHERE targets.id = $1 FOR UPDATE', [call.targetId]);
  }

  async function blocked(count: number): Promise<void> {
    const isBlocked = async (): Promise<boolean> =>
      (await observer.query(BLOCKED)).rows.length === count;
    await eventually(`${count} wait for the target`, isBlocked);
  }
});
