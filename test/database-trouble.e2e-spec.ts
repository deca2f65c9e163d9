import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Logger } from '../src/common/logger.js';
import { EmbeddedPostgres } from '../src/database/embedded/embedded-postgres.js';
import { CallLoad } from './support/call-load.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { PostgresProxy } from './support/postgres-proxy.js';
import { ServiceProcess } from './support/service-process.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const ENGINES = 4;
const RUNNING = ['a', 'b', 'c', 'd', 'e'];
/** Long enough for the lease below to run out, twice. */
const STOPPED_MS = 10_000;
/** A whole black hole: BLACK_HOLE_SEC=60 npm test -- database-trouble */
const SILENT_MS = Number(process.env['BLACK_HOLE_SEC'] ?? 12) * 1_000;
/** How soon after its return the service has to be ready again. */
const READY_WITHIN_MS = 2_000;
const TOLD_WITHIN_MS = 30_000;
const KILLS = 30;
const ENV = { BGC_INSTANCE_LEASE_SEC: '4', BGC_INSTANCE_HEARTBEAT_SEC: '1' };
const KILL_ALL = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

jest.setTimeout(90_000 + SILENT_MS);

describe('a service under load', () => {
  let upstream: McpTestServer;
  let service: ServiceProcess;
  let load: CallLoad;
  /** Calls that run while the database is away, and end in the middle of that. */
  let running: string[];

  beforeEach(async () => {
    upstream = await McpTestServer.start();
  });

  afterEach(async () => {
    await service?.end('SIGKILL');
    await upstream.stop();
  });

  async function startOn(databaseUrl: string): Promise<void> {
    service = await ServiceProcess.start({ ...ENV, DATABASE_URL: databaseUrl });
    await service.register('test', upstream.url);
    await service.settings({
      backgroundCalls: { maxPerTarget: 1_000 },
      delivery: { visibilitySec: 2 },
    });
    load = new CallLoad(service.agent, ENGINES);
    running = [];
    for (const name of RUNNING)
      running.push((await service.session('running').callInBackground('gate', { name })).id);
    await upstream.until(() => countOf('gate') === RUNNING.length);
    await eventually('there is load', () => load.accepted.size > 10);
  }

  const countOf = (tool: string): number =>
    upstream.calls.filter((call) => call.tool === tool).length;
  const endAll = (): void => RUNNING.forEach((name) => upstream.release(name));

  async function statusOf(path: string): Promise<number> {
    return (await service.agent.get(path)).status;
  }

  async function isReadyAgain(): Promise<void> {
    const isReady = async (): Promise<boolean> => (await statusOf('/readyz')) === 200;
    await eventually('it is ready again', isReady, READY_WITHIN_MS);
  }

  /** Whatever happened: what was accepted is told once, as it ended, and was done at most once. */
  async function loseNothing(): Promise<void> {
    const before = load.accepted.size;
    await eventually('calls are handed over again', () => load.accepted.size > before + 10);
    for (const id of running) load.accepted.set(id, id);
    await load.settle(TOLD_WITHIN_MS);
    expect(load.untold).toEqual([]);
    expect(load.toldTwice).toEqual([]);
    for (const id of running)
      expect(load.told.get(id)).toEqual([expect.objectContaining({ status: 'completed' })]);
    const done = upstream.calls.map((call) => String(call.arguments.name));
    expect(new Set(done).size).toBe(done.length);
    const endings = [...load.told].filter(([id]) => load.accepted.has(id));
    for (const [id, [told]] of endings)
      expect(told).toMatchObject({ status: (await service.session('any').get(id)).status });
    expect(service.exitCode).toBeUndefined();
  }

  describe('whose database is stopped', () => {
    let folder: string;
    let database: EmbeddedPostgres;

    beforeEach(async () => {
      folder = fs.mkdtempSync(
        path.join(process.getuid?.() === 0 ? '/tmp' : process.env['TMPDIR']!, 'bgc-'),
      );
      fs.chmodSync(folder, 0o755);
      database = await openDatabase();
      await startOn(database.url);
    });

    afterEach(async () => {
      await service.end('SIGKILL');
      await database.stop();
      fs.rmSync(folder, { recursive: true, force: true });
    });

    function openDatabase(): Promise<EmbeddedPostgres> {
      return EmbeddedPostgres.start({
        dataDir: path.join(folder, 'data'),
        systemDir: path.join(folder, 'system'),
        logger: Logger.create('silent'),
        onLost: () => undefined,
        settings: { fsync: 'off' },
      });
    }

    it(`for ${STOPPED_MS / 1_000} s lives, says so, and loses nothing`, async () => {
      await database.stop();
      await eventually('it is not ready', async () => (await statusOf('/readyz')) === 503);
      endAll();
      await sleep(STOPPED_MS);
      expect(await statusOf('/healthz')).toBe(200);
      const inTheForeground = await service
        .session('foreground')
        .call('echo', { name: 'meanwhile' });
      expect(inTheForeground).toMatchObject({ status: 200, body: { outcome: 'completed' } });
      database = await openDatabase();
      await isReadyAgain();
      await loseNothing();
    });
  });

  describe('with a proxy before its database', () => {
    let database: TestDatabase;
    let proxy: PostgresProxy;
    let control: Client;

    beforeEach(async () => {
      database = await createTestDatabase();
      control = new Client({ connectionString: database.url });
      await control.connect();
      proxy = await PostgresProxy.start(database.url);
      await startOn(proxy.url);
    });

    afterEach(async () => {
      await service.end('SIGKILL');
      await control.end();
      await proxy.stop();
      await database.drop();
    });

    it(`that swallows everything for ${SILENT_MS / 1_000} s lives, says so, and loses nothing`, async () => {
      proxy.fallSilent();
      await eventually('it is not ready', async () => (await statusOf('/readyz')) === 503);
      endAll();
      await sleep(SILENT_MS);
      expect(await statusOf('/healthz')).toBe(200);
      proxy.restore();
      await isReadyAgain();
      await loseNothing();
    });

    it('that fails over, and is read-only for a while, loses nothing', async () => {
      const { database: name } = control;
      await control.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
      await control.query(KILL_ALL);
      await eventually('calls are refused', () => load.refused.get(503));
      endAll();
      await eventually('more calls are refused', () => (load.refused.get(503) ?? 0) > 20);
      await control.query('SET default_transaction_read_only = off');
      await control.query(`ALTER DATABASE ${name} SET default_transaction_read_only = off`);
      await control.query(KILL_ALL);
      await isReadyAgain();
      await loseNothing();
    });

    it(`whose connections are killed ${KILLS} times loses nothing`, async () => {
      for (let kill = 0; kill < KILLS; kill++) {
        const seen = load.accepted.size + (load.refused.get(503) ?? 0);
        await control.query(KILL_ALL);
        if (kill === KILLS / 2) endAll();
        await eventually(
          'it goes on',
          () => load.accepted.size + (load.refused.get(503) ?? 0) > seen,
        );
      }
      await loseNothing();
    });
  });
});
