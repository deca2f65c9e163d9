import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { ServiceProcess } from './support/service-process.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

// Five starts of a process, each with an initdb of its own, on a machine that may be busy.
jest.setTimeout(90_000);

const SHARED_DATABASE = { BGC_INSTANCE_HEARTBEAT_SEC: '0.3', BGC_INSTANCE_LEASE_SEC: '1' };

describe.each(['a shared', 'an embedded'])(
  'a service on %s database that ends and starts again',
  (kind) => {
    let upstream: McpTestServer;
    let database: TestDatabase | undefined;
    let dataDir: string;
    let service: ServiceProcess;

    beforeAll(async () => {
      upstream = await McpTestServer.start();
    });

    afterAll(async () => {
      await upstream.stop();
    });

    beforeEach(async () => {
      upstream.calls.length = 0;
      dataDir = await mkdtemp(join(tmpdir(), 'bgc-restart-'));
      await chmod(dataDir, 0o755); // the server of root is another user: shut out, it would leave its files elsewhere
      database = kind === 'a shared' ? await createTestDatabase() : undefined;
      service = await start();
      await service.register('test', upstream.url);
      await service.settings({ delivery: { visibilitySec: 0.5 } });
    });

    afterEach(async () => {
      await service.end('SIGKILL');
      await database?.drop();
      // The embedded server ends a moment after the process whose it was.
      const lock = join(dataDir, 'postgres-18', 'postmaster.pid');
      await eventually('the embedded server has ended', () => !existsSync(lock), 30_000);
      await rm(dataDir, { recursive: true, force: true });
    });

    /** The embedded database is this process's alone: there the lease of 12 s is not waited for. */
    function start(): Promise<ServiceProcess> {
      const onShared = { ...SHARED_DATABASE, DATABASE_URL: database?.url ?? '' };
      return ServiceProcess.start({
        BGC_DATA_DIR: dataDir,
        BGC_DRAIN_SEC: '5',
        ...(database ? onShared : { DATABASE_URL: '' }),
      });
    }

    it('tells interrupted calls once each and repeats an unacknowledged message, after kill -9', async () => {
      const ids: string[] = [];
      for (const name of ['a', 'b', 'c'])
        ids.push((await service.session('busy').callInBackground('gate', { name })).id);
      const ended = await service.session('told').callInBackground('echo', { n: 1 });
      const [message] = await service.session('told').messages(10);
      expect(message.notifications).toMatchObject([{ callId: ended.id }]);
      await upstream.untilCalled(4);
      expect(await service.end('SIGKILL')).toBe('SIGKILL');

      service = await start();
      for (const id of ids)
        expect(await service.session('busy').get(id, kind === 'a shared' ? 20 : 0)).toMatchObject({
          status: 'failed',
          error: { code: 'interrupted' },
          outcomeUnknown: true,
        });
      const messages = await service.session('busy').receive(ids);
      const told = messages.flatMap(({ notifications }) =>
        notifications.map(({ callId }: { callId: string }) => callId),
      );
      expect([...told].sort()).toEqual([...ids].sort());
      expect(messages[0].text).toContain('服务重启，后台调用中断');
      const again = await service.session('told').messages(10);
      expect(again).toEqual([message]);
      await service.session('told').ack(message.id);

      expect(await service.end('SIGKILL')).toBe('SIGKILL');
      service = await start();
      expect(await service.session('busy').messages(2)).toEqual([]);
      expect(await service.session('told').messages()).toEqual([]);
      for (const id of ids)
        expect(await service.session('busy').get(id)).toMatchObject({
          status: 'failed',
          message: { state: 'delivered' },
        });
      expect(upstream.calls).toHaveLength(4);
    });

    it('leaves in order on SIGTERM: foreground calls end or are stopped, background calls are told, exit code 0', async () => {
      const engine = service.session('leaving');
      const background = await engine.callInBackground('gate', { name: 'background' });
      const quick = engine.call('gate', { name: 'quick' });
      const endless = engine.call('gate', { name: 'endless' });
      const poll = engine.messages(60);
      await upstream.untilCalled(3);
      const exit = service.end('SIGTERM');
      expect(await poll).toEqual([]);
      const refused = await engine.call('echo').catch(() => ({ status: 503 }));
      expect(refused.status).toBe(503);
      upstream.release('quick');
      expect((await quick).status).toBe(200);
      expect((await endless).status).toBe(503);
      expect(await exit).toBe(0);

      service = await start();
      const told = service.session('leaving');
      expect(await told.get(background.id)).toMatchObject({ error: { code: 'interrupted' } });
      expect(await told.receive([background.id])).toHaveLength(1);
    });

    it('exits at once on a second signal', async () => {
      const engine = service.session('hurry');
      const call = engine.call('gate', { name: 'hurry' }).catch(() => undefined);
      await upstream.untilCalled(1);
      service.signal('SIGTERM');
      const isDraining = async (): Promise<boolean> => (await engine.call('echo')).status === 503;
      await eventually('it is draining', isDraining);
      // What follows the first signal too closely is taken for the same one.
      const exitCode = await eventually('it has ended', () => {
        service.signal('SIGTERM');
        return service.exitCode;
      });
      expect(exitCode).toBe(1);
      await call;
    });
  },
);
