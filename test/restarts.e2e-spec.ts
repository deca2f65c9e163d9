import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { McpTestServer } from './support/mcp-server.js';
import { ServiceProcess } from './support/service-process.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const RESTARTS = 20;
/** About half a minute on an idle machine. */
const LONGEST_MS = 240_000;
const QUEUE = { background: { mode: 'always', onLimit: 'queue' } };

describe('a service that is started again and again', () => {
  let upstream: McpTestServer;
  let database: TestDatabase;
  let service: ServiceProcess | undefined;

  beforeAll(async () => {
    upstream = await McpTestServer.start();
    database = await createTestDatabase();
  });

  afterAll(async () => {
    await service?.end('SIGKILL');
    await upstream.stop();
    await database.drop();
  });

  it(
    'runs no call twice, and says the same each time to a receiver that acknowledges nothing',
    async () => {
      service = await start();
      await service.register('test', upstream.url);
      await service.settings({
        delivery: { visibilitySec: 0.1 },
        backgroundCalls: { maxPerTarget: 1 },
      });
      const quiet = service.session('quiet');
      const busy = service.session('busy');
      const ended = await quiet.callInBackground('echo', { name: 'ended' });
      const running = await busy.callInBackground('gate', { name: 'running' });
      const queued = [];
      for (const name of ['queued-1', 'queued-2', 'queued-3'])
        queued.push({ name, ...(await busy.callInBackground('echo', { name }, QUEUE)) });
      expect(queued.map(({ status }) => status)).toEqual(['queued', 'queued', 'queued']);

      const heard = { quiet: [await hear('quiet')], busy: [] as string[] };
      for (let restart = 1; restart <= RESTARTS; restart++) {
        await service.end(restart % 5 === 0 ? 'SIGTERM' : 'SIGKILL');
        service = await start();
        const [quietly, busily] = await Promise.all([hear('quiet'), hear('busy')]);
        heard.quiet.push(quietly);
        heard.busy.push(busily);
      }

      await acknowledgeTheOne('quiet', heard.quiet, ended.id);
      await acknowledgeTheOne('busy', heard.busy, running.id);
      const messages = await service.session('busy').receive(queued.map(({ id }) => id));
      const told = messages.flatMap(({ notifications }) =>
        notifications.map(({ callId }: { callId: string }) => callId),
      );
      expect(told).toEqual(queued.map(({ id }) => id));
      for (const session of ['quiet', 'busy'])
        expect(await service.session(session).messages(0.5)).toEqual([]);
      const asked = upstream.calls.map((call) => call.arguments.name);
      expect(asked).toEqual(expect.arrayContaining(['ended', 'running']));
      expect(new Set(asked).size).toBe(asked.length);
      // Killed between the mark and the request: nobody can know that, so it is not asked again.
      const neverAsked = queued.filter(({ name }) => !asked.includes(name));
      for (const { id } of neverAsked)
        expect(await service.session('busy').get(id)).toMatchObject({
          error: { code: 'interrupted' },
          outcomeUnknown: true,
        });
    },
    LONGEST_MS,
  );

  /** Receives the one message of a session, without acknowledging it. */
  async function hear(session: string): Promise<string> {
    const messages = (await service?.session(session).messages(20)) ?? [];
    expect(messages).toHaveLength(1);
    return JSON.stringify(messages[0]);
  }

  /** All that was heard is one message, which tells of one call. */
  async function acknowledgeTheOne(
    session: string,
    [first = '', ...again]: string[],
    callId: string,
  ): Promise<void> {
    expect(new Set(again)).toEqual(new Set([first]));
    const message = JSON.parse(first) as { id: string };
    expect(message).toMatchObject({ notifications: [{ callId }] });
    expect((await service?.session(session).ack(message.id))?.status).toBe(200);
  }

  function start(): Promise<ServiceProcess> {
    return ServiceProcess.start({
      DATABASE_URL: database.url,
      BGC_INSTANCE_HEARTBEAT_SEC: '0.3',
      BGC_INSTANCE_LEASE_SEC: '1',
      BGC_DRAIN_SEC: '1',
    });
  }
});
