import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.js';
import { ServiceProcess } from './support/service-process.js';
import { commandLine, isAlive, StdioUpstream } from './support/stdio-upstream.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const OWNER = fileURLToPath(new URL('./support/watchdog-owner.mjs', import.meta.url));
/** The end of input, SIGTERM and SIGKILL take 3 s. */
const ENDED_MS = 10_000;

async function untilGone(pids: number[]): Promise<void> {
  await eventually('they are gone', () => !pids.some(isAlive), ENDED_MS);
}

describe('The programs of a service that is killed', () => {
  let upstream: StdioUpstream;
  let database: TestDatabase;
  let service: ServiceProcess;
  let started: ServiceProcess[];

  beforeEach(async () => {
    started = [];
    upstream = new StdioUpstream();
    database = await createTestDatabase();
    service = await start();
    // Neither the end of its input nor SIGTERM ends it.
    const { transport, command, args } = upstream.server('stubborn');
    const registration = { name: 'test', title: 'Test', transport, command, args };
    await service.admin.post('/admin/v1/mcp-servers', registration);
  });

  afterEach(async () => {
    for (const one of started) await one.end('SIGKILL');
    await untilGone(upstream.starts.map(({ pid }) => pid));
    await database.drop();
    upstream.remove();
  });

  async function start(): Promise<ServiceProcess> {
    const begun = await ServiceProcess.start({
      DATABASE_URL: database.url,
      BGC_INSTANCE_HEARTBEAT_SEC: '0.3',
      BGC_INSTANCE_LEASE_SEC: '1',
      BGC_STDIO_COMMANDS: process.execPath,
    });
    started.push(begun);
    return begun;
  }

  /** Its program and what that has started, in one group. */
  async function groupOf(one: ServiceProcess): Promise<number[]> {
    const { body } = await one.session('first').call('child');
    return [upstream.lastPid, Number(body.result.content[0].text)];
  }

  it('are gone with all that they have started; what they ran is told by the next start', async () => {
    const group = await groupOf(service);
    const { id } = await service.session('first').callInBackground('never');
    await upstream.untilReceived('tools/call', 2);
    await service.end('SIGKILL');
    expect(group.map(isAlive)).toEqual([true, true]);

    service = await start();
    expect(await service.session('first').get(id, 20)).toMatchObject({
      status: 'failed',
      error: { code: 'interrupted' },
      outcomeUnknown: true,
    });
    await untilGone(group);
    // Asked to end before it was killed.
    expect(upstream.entries().filter(({ event }) => event === 'SIGTERM')).toHaveLength(1);
    const { status } = await service.session('first').call('echo');
    expect([status, upstream.starts.length]).toEqual([200, 2]);
  });

  it('are gone while those of another replica go on', async () => {
    const group = await groupOf(service);
    const replica = await start();
    const file = join(upstream.folder, 'go');
    const { id } = await replica.session('second').callInBackground('until', { file });
    await upstream.untilReceived('tools/call', 2);
    const others = upstream.lastPid;
    expect(group).not.toContain(others);
    await service.end('SIGKILL');
    await untilGone(group);
    expect(isAlive(others)).toBe(true);
    writeFileSync(file, '');
    expect(await replica.session('second').get(id, 20)).toMatchObject({ status: 'completed' });
    expect(upstream.starts).toHaveLength(2);
  });

  it('are gone also when their watchdog had been killed: another one took its place', async () => {
    const group = await groupOf(service);
    const startedAt = performance.now();
    await eventually('it lived a while', () => performance.now() - startedAt > 1_000);
    const [watchdog] = watchdogsOf(service);
    process.kill(watchdog!, 'SIGKILL');
    await eventually('another one', () => !watchdogsOf(service).includes(watchdog!));
    await eventually('it runs', () => watchdogsOf(service).length === 1);
    // From its birth, so that the service may be killed at any time after it.
    expect(commandLine(watchdogsOf(service)[0]!)).toMatch(
      new RegExp(`watchdog\\W${group[0]}\\W*$`),
    );
    expect(service.logged('event', 'upstream_program.watchdog_lost')).toMatchObject([
      { reason: 'exit SIGKILL' },
    ]);
    await service.end('SIGKILL');
    await untilGone(group);
  });

  it('leave no watchdog behind when the service leaves in order', async () => {
    const group = await groupOf(service);
    const [watchdog] = watchdogsOf(service);
    expect(isAlive(watchdog!)).toBe(true);
    expect(await service.end('SIGTERM')).toBe(0);
    expect(group.map(isAlive)).toEqual([false, false]);
    await untilGone([watchdog!]);
  });
});

describe('A watchdog whose owner is killed', () => {
  let programs: ChildProcess[];

  beforeEach(() => {
    programs = [1, 2].map(() => spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }));
  });
  afterEach(() => {
    for (const program of programs) program.kill('SIGKILL');
  });

  it('leaves a group alone that was told to be gone: its number is that of another one', async () => {
    const [own, reused] = programs.map(({ pid }) => pid!);
    const owner = spawn(process.execPath, [OWNER, `${own}`, '--', `${reused}`]);
    const [said] = (await once(owner.stdout, 'data')) as [Buffer];
    expect(said.toString()).toBe('ready\n');
    owner.kill('SIGKILL');
    await untilGone([own!]);
    expect(isAlive(reused!)).toBe(true);
  });
});

function watchdogsOf({ pid }: ServiceProcess): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  const pids = children.split(' ').filter(Boolean).map(Number);
  return pids.filter((one) => commandLine(one).includes('background-calls-watchdog'));
}
