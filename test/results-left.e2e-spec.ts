import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { type FileContent, ResultFiles } from '../src/delivery/files/result-files.js';
import { eventually } from './support/eventually.js';
import { LONG_WORKS, type LongWork } from './support/long-work.js';
import { McpTestServer } from './support/mcp-server.js';
import { TestService } from './support/service.js';
import { ServiceProcess } from './support/service-process.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const FAILPOINTS = fileURLToPath(new URL('./chaos/failpoints.mjs', import.meta.url));
/** Far more than can be done while one file is written. */
const REMOVALS = 3_000;
const LONG_TEXT = 'x'.repeat(20_000);

const GOES_ON = `
  SELECT 1 FROM background_calls
  WHERE background_calls.dispatched_at IS NOT NULL
    AND (background_calls.upstream_reference IS NOT NULL OR NOT $1)`;

// Two starts of a process each, on a machine that may be busy.
jest.setTimeout(120_000);

describe('files of a process that was killed before the end of their call was written', () => {
  let workspaces: string;
  let database: TestDatabase;
  let control: Client;
  let work: LongWork;
  let service: ServiceProcess | undefined;

  beforeEach(async () => {
    workspaces = await mkdtemp(join(tmpdir(), 'bgc-left-'));
    database = await createTestDatabase();
    control = new Client({ connectionString: database.url });
    await control.connect();
  });
  afterEach(async () => {
    await service?.end('SIGKILL');
    await work.upstream.stop();
    await control.end();
    await database.drop();
    await rm(workspaces, { recursive: true });
  });

  /** With a failpoint it kills itself there. */
  async function start(failure: { FAIL?: string } = {}): Promise<ServiceProcess> {
    const env = {
      BGC_INSTANCE_HEARTBEAT_SEC: '0.3',
      BGC_INSTANCE_LEASE_SEC: '1',
      DATABASE_URL: database.url,
      BGC_WORKSPACES_DIR: workspaces,
    };
    service = await ServiceProcess.start({ ...env, ...failure }, ['--import', FAILPOINTS]);
    return service;
  }

  function folder(): string {
    return join(workspaces, 'default/sessions/s/.agent/mcp');
  }

  /** Work that ends with its process. */
  async function startPlain(): Promise<LongWork> {
    const upstream = await McpTestServer.start();
    const end = (text: string): Promise<void> => {
      upstream.release('long', { content: [{ type: 'text', text }] });
      return Promise.resolve();
    };
    const begun = (): number => upstream.calls.length;
    const args = { name: 'long' };
    return { upstream, tool: 'gate', arguments: args, begun, end, wasStopped: () => false };
  }

  /** Begins the work in a process that kills itself when the result is in a file; answers the call. */
  async function fileAndDie(isResumable: boolean): Promise<string> {
    const dying = await start({ FAIL: 'end.upstream-answered' });
    await dying.register('test', work.upstream.url);
    const { id } = await dying.session('s').callInBackground(work.tool, work.arguments);
    await eventually('it is asked, and known by what another process goes on', async () => {
      return (await control.query(GOES_ON, [isResumable])).rows.length === 1;
    });
    await work.end(LONG_TEXT);
    expect(await dying.whenEnded()).toBe('SIGKILL');
    expect(await readdir(folder())).toEqual([`${id}.txt`]);
    return id;
  }

  it('are gone when it ends as interrupted', async () => {
    work = await startPlain();
    const id = await fileAndDie(false);
    const engine = (await start()).session('s');
    const ended = await engine.get(id, 30);
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'interrupted' } });
    expect(await readdir(folder())).toEqual([]);
    const [message] = await engine.receive([id]);
    expect(message.text).not.toContain('.agent');
  });

  it('are gone when it ends as cancelled', async () => {
    work = await startPlain();
    const id = await fileAndDie(false);
    const engine = (await start()).session('s');
    await engine.cancel(id);
    expect((await engine.get(id, 30)).result).toBeNull();
    expect(await readdir(folder())).toEqual([]);
  });

  it.each(LONG_WORKS)('give way to those of whoever takes it over: %s', async (_, startWork) => {
    work = await startWork();
    const id = await fileAndDie(true);
    const engine = (await start()).session('s');
    const { status, result } = await engine.get(id, 30);
    expect(status).toBe('completed');
    const [message] = await engine.receive([id]);
    expect(message.notifications[0].resultFile).toBe(result.file);
    expect(basename(result.file)).not.toBe(`${id}.txt`);
    expect(await readdir(folder())).toEqual([basename(result.file)]);
    expect(await readFile(join(folder(), basename(result.file)), 'utf8')).toBe(LONG_TEXT);
  });
});

describe('files in the workspace of a session', () => {
  let workspaces: string;
  let service: TestService;
  let files: ResultFiles;
  let call: { id: string; appId: string; address: { type: 'session'; sessionId: string } };

  beforeEach(async () => {
    workspaces = await mkdtemp(join(tmpdir(), 'bgc-files-'));
    service = await TestService.start({ env: { BGC_WORKSPACES_DIR: workspaces } });
    files = service.get(ResultFiles);
    const address = { type: 'session', sessionId: 's' } as const;
    call = { id: '01935f2e-0000-7000-8000-0000000000aa', appId: await theApp(service), address };
  });
  afterEach(async () => {
    await service.stop();
    await rm(workspaces, { recursive: true });
  });

  const part = (text: string): FileContent => ({
    part: 0,
    isText: true,
    read: () => ({ extension: 'txt', body: text }),
  });

  it('are each of its writer: one that can’t go on takes back its own alone', async () => {
    const takenBy = '01935f2e-0000-7000-8000-0000000000ab';
    const torn: FileContent = { ...part(''), part: 1, read: () => JSON.parse('no JSON') as never };
    const taken = await files.write({ ...call, takenBy }, [part('taken over')]);
    expect(await files.write(call, [part('first'), torn])).toBeUndefined();
    const folder = join(workspaces, 'default/sessions/s/.agent/mcp');
    expect(await readdir(folder)).toEqual([basename(taken!.main)]);
    const first = await files.write(call, [part('first')]);
    expect(await files.write({ ...call, takenBy }, [part('again'), torn])).toBeUndefined();
    expect(await readdir(folder)).toEqual([basename(first!.main)]);
    expect(await readFile(join(folder, basename(first!.main)), 'utf8')).toBe('first');
  });

  it('are written while many others are removed', async () => {
    await files.write(call, [part('x')]);
    let settled = 0;
    const remove = (): Promise<void> =>
      files.remove(call, ['01935f2e-0000-7000-8000-0000000000ab']).finally(() => (settled += 1));
    const removals = Promise.allSettled(Array.from({ length: REMOVALS }, remove));
    expect(await files.write(call, [part('x')])).toBeDefined();
    expect(settled).toBeLessThan(REMOVALS * 0.9);
    await removals;
  });
});

async function theApp(service: TestService): Promise<string> {
  const [app] = await service.sql<{ id: string }>('SELECT apps.id FROM apps');
  return app!.id;
}
