import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { fromPublicId } from '../src/common/ids.js';
import { instanceOf, recordOf } from './support/call-record.js';
import { eventually } from './support/eventually.js';
import { LONG_WORKS, type LongWork, startTask } from './support/long-work.js';
import { ServiceProcess } from './support/service-process.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

// Several starts of processes each, on a machine that may be busy.
jest.setTimeout(120_000);

const SESSION = 'session-1';
const SHORT_LEASE = { BGC_INSTANCE_HEARTBEAT_SEC: '0.3', BGC_INSTANCE_LEASE_SEC: '1' };
/** Enough for the upstream to have told the reference, which then is in the row at the handover. */
const AMPLE_SEC = 3;
const IS_STORED = `
  SELECT 1 FROM background_calls
  WHERE background_calls.id = $1 AND background_calls.upstream_reference IS NOT NULL`;

let work: LongWork;
const processes: ServiceProcess[] = [];

async function start(env: Record<string, string>): Promise<ServiceProcess> {
  const service = await ServiceProcess.start({ BGC_DRAIN_SEC: '2', ...env });
  processes.push(service);
  return service;
}

async function endAll(): Promise<void> {
  for (const each of processes) each.signal('SIGCONT');
  await Promise.all(processes.map((each) => each.end('SIGKILL')));
  processes.length = 0;
}

/** Moves by its timer, so that it is running when the caller is answered. */
async function callOf(service: ServiceProcess, autoAfterSec = 0.5): Promise<string> {
  const background = { autoAfterSec };
  const answer = await service.session(SESSION).call(work.tool, work.arguments, { background });
  expect(answer.status).toBe(202);
  return (answer.body.call as { id: string }).id;
}

/** Told once and no more, with the result, of work that was done once. */
async function expectResult(service: ServiceProcess, id: string, text: string): Promise<void> {
  const engine = service.session(SESSION);
  expect(await engine.get(id, 30)).toMatchObject({
    status: 'completed',
    result: { preview: text },
    error: null,
  });
  const messages = await engine.receive([id]);
  expect(messages.flatMap(({ notifications }) => notifications)).toMatchObject([{ callId: id }]);
  expect(await engine.messages(1)).toEqual([]);
  expect(work.begun()).toBe(1);
  expect(work.wasStopped()).toBe(false);
}

describe.each(LONG_WORKS)('the call behind %s', (_, startWork) => {
  let database: TestDatabase;
  let control: Client;
  let owner: ServiceProcess;

  beforeEach(async () => {
    work = await startWork();
    database = await createTestDatabase();
    control = new Client({ connectionString: database.url });
    await control.connect();
    owner = await replica();
    await owner.register('test', work.upstream.url);
  });

  afterEach(async () => {
    await endAll();
    await control.end();
    await database.drop();
    await work.upstream.stop();
  });

  const replica = (): Promise<ServiceProcess> =>
    start({ DATABASE_URL: database.url, ...SHORT_LEASE });

  it('goes on after kill -9 at the next start, in time, with what it had told', async () => {
    const id = await callOf(owner);
    await stored(id);
    const before = await owner.session(SESSION).get(id);
    await owner.end('SIGKILL');
    const next = await replica();
    await resumed(id);
    const after = await next.session(SESSION).get(id);
    expect(after).toEqual(before);
    await work.end('found out');
    await expectResult(next, id, 'found out');
  });

  it('has its result also when that came while no process was there', async () => {
    const id = await callOf(owner, AMPLE_SEC);
    await owner.end('SIGKILL');
    await work.end('meanwhile');
    await expectResult(await replica(), id, 'meanwhile');
  });

  it('goes on at the other replica when its own is killed, also when it moved at once', async () => {
    const other = await replica();
    const engine = owner.session(SESSION);
    const { id } = await engine.callInBackground(work.tool, work.arguments);
    await stored(id);
    await owner.end('SIGKILL');
    await resumed(id);
    await work.end('elsewhere');
    await expectResult(other, id, 'elsewhere');
  });

  it('is given up by a process that leaves, and goes on at the other replica', async () => {
    const other = await replica();
    const id = await callOf(owner);
    await stored(id);
    expect(await owner.end('SIGTERM')).toBe(0);
    expect((await recordOf(control, id)).status).toBe('running');
    await resumed(id);
    await work.end('taken over');
    await expectResult(other, id, 'taken over');
  });

  it('is neither stopped nor written about by a process that wakes after its lease', async () => {
    const other = await replica();
    const id = await callOf(owner);
    await stored(id);
    const oldId = await instanceOf(control, owner.pid);
    owner.signal('SIGSTOP');
    await resumed(id);
    const taken = await recordOf(control, id);
    owner.signal('SIGCONT');
    await eventually('it has a new id', async () => {
      const newId = await instanceOf(control, owner.pid);
      return newId !== undefined && newId !== oldId;
    });
    expect(await recordOf(control, id)).toEqual(taken);
    await work.end('by the other one');
    await expectResult(other, id, 'by the other one');
    expect(owner.logged('callId', id).map(({ event }) => event)).not.toContain(
      'background_call.ended',
    );
  });

  it('ends as interrupted, told once, when its server has forgotten it', async () => {
    const id = await callOf(owner);
    await owner.end('SIGKILL');
    await work.upstream.forgetSessions();
    const next = await replica();
    const engine = next.session(SESSION);
    expect(await engine.get(id, 30)).toMatchObject({
      status: 'failed',
      error: { code: 'interrupted' },
      outcomeUnknown: true,
    });
    const messages = await engine.receive([id]);
    expect(messages.flatMap(({ notifications }) => notifications)).toHaveLength(1);
    expect(await engine.messages(1)).toEqual([]);
    expect(work.begun()).toBe(1);
  });

  async function stored(id: string): Promise<void> {
    await eventually('its reference is stored', async () => {
      return (await control.query(IS_STORED, [fromPublicId('bgc', id)])).rows.length === 1;
    });
  }

  async function resumed(id: string): Promise<void> {
    await eventually(
      'it is taken over',
      async () => (await recordOf(control, id)).events.includes('background_call.resumed'),
      30_000,
    );
  }
});

describe('a task', () => {
  afterEach(async () => {
    await endAll();
    await work.upstream.stop();
  });

  it('is cancelled upstream too when the cancel comes while its owner is dead', async () => {
    const started = await startTask();
    work = started;
    const database = await createTestDatabase();
    const owner = await start({ DATABASE_URL: database.url, BGC_INSTANCE_LEASE_SEC: '60' });
    await owner.register('test', work.upstream.url);
    const other = await start({ DATABASE_URL: database.url });
    const id = await callOf(owner, AMPLE_SEC);
    await owner.end('SIGKILL');
    const engine = other.session(SESSION);
    expect((await engine.cancel(id)).status).toBe(202);
    expect(await engine.get(id, 20)).toMatchObject({ status: 'cancelled', error: null });
    await eventually('the task is cancelled', async () => {
      return (await started.tasks.status()) === 'cancelled';
    });
    expect(await engine.receive([id])).toHaveLength(1);
    await endAll();
    await database.drop();
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)(
    'goes on at the next start on an embedded database, after %s',
    async (signal) => {
      work = await startTask();
      const dataDir = await mkdtemp(join(tmpdir(), 'bgc-reattach-'));
      await chmod(dataDir, 0o755); // the server of root is another user
      const embedded = { DATABASE_URL: '', BGC_DATA_DIR: dataDir };
      const service = await start(embedded);
      await service.register('test', work.upstream.url);
      const id = await callOf(service, AMPLE_SEC);
      await service.end(signal);
      const next = await start(embedded);
      expect(await next.session(SESSION).get(id)).toMatchObject({ status: 'running' });
      await work.end('after all');
      await expectResult(next, id, 'after all');
      await endAll();
      const lock = join(dataDir, 'postgres-18', 'postmaster.pid');
      await eventually('the embedded server has ended', () => !existsSync(lock), 30_000);
      await rm(dataDir, { recursive: true, force: true });
    },
  );
});
