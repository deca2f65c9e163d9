import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { OrderedEventStore } from './chaos/ordered-event-store.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import type { ToolHandler } from './support/mcp-tools.js';
import { ServiceProcess } from './support/service-process.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

// Two starts of a process each, on a machine that may be busy.
jest.setTimeout(120_000);

const ACCEPTED = { action: 'accept', content: { one: 'the first' } } as const;

const PROGRESS = 'notifications/progress';
const POSITION = `
  SELECT background_calls.upstream_reference::jsonb->>'lastEventId' AS "lastEventId"
  FROM background_calls`;

const inquire: ToolHandler = async (_args, { ask, progress }) => {
  await progress(1);
  return { content: [], structuredContent: await ask('Which one?', { type: 'object' }) };
};

describe('a question of a call whose process was killed', () => {
  let database: TestDatabase;
  let control: Client;
  let upstream: McpTestServer;
  let service: ServiceProcess;

  beforeEach(async () => {
    database = await createTestDatabase();
    control = new Client({ connectionString: database.url });
    await control.connect();
  });
  afterEach(async () => {
    await service.end('SIGKILL');
    await upstream.stop();
    await control.end();
    await database.drop();
  });

  async function start(): Promise<void> {
    service = await ServiceProcess.start({
      BGC_INSTANCE_HEARTBEAT_SEC: '0.3',
      BGC_INSTANCE_LEASE_SEC: '1',
      DATABASE_URL: database.url,
    });
  }

  /** The call, once its first question is told and its process is another one. */
  async function askAndDie(eventStore?: OrderedEventStore): Promise<string> {
    upstream = await McpTestServer.start({ eventStore, tools: { inquire } });
    await start();
    const server = { name: 'test', title: 'Test', url: upstream.url, sharing: 'session' };
    expect((await service.admin.post('/admin/v1/mcp-servers', server)).status).toBe(201);
    const { id } = await service.session('s').callInBackground('inquire');
    expect(await service.session('s').receive([id])).toMatchObject([
      { kind: 'background_call.input_required' },
    ]);
    if (eventStore)
      await eventually('it is stored how far the stream has come', async () => {
        const { rows } = await control.query<{ lastEventId: string | null }>(POSITION);
        return Number(rows[0]?.lastEventId) >= Number(eventStore.idOf.get(PROGRESS));
      });
    await service.end('SIGKILL');
    await start();
    return id;
  }

  it('is asked anew where its stream can be gone on with, and answered once', async () => {
    const id = await askAndDie(new OrderedEventStore());
    const engine = service.session('s');
    await eventually('it is asked again', async () => {
      return (await engine.get(id)).inputRequest?.sequence === 2;
    });
    expect(await engine.receive([id])).toMatchObject([{ kind: 'background_call.input_required' }]);
    const late = await engine.answer(id, { ...ACCEPTED, sequence: 1 });
    expect(late).toMatchObject({ status: 409, body: { code: 'input_not_required' } });
    expect((await engine.answer(id, ACCEPTED)).status).toBe(200);
    expect(await engine.get(id, 15)).toMatchObject({ status: 'completed' });
    const result = await service.agent.get(`/v1/background-calls/${id}/result`);
    expect(result.body.structuredContent).toEqual(ACCEPTED);
    expect(await engine.receive([id])).toMatchObject([{ kind: 'background_call.result' }]);
    expect(upstream.calls).toHaveLength(1);
    expect(upstream.methods.filter((method) => method === 'undefined')).toHaveLength(1);
  });

  it('is over with its call where nobody can go on, and that is said', async () => {
    const id = await askAndDie();
    const engine = service.session('s');
    expect(await engine.get(id, 30)).toMatchObject({
      status: 'failed',
      error: { code: 'interrupted' },
      outcomeUnknown: true,
      inputRequest: null,
    });
    const late = await engine.answer(id, ACCEPTED);
    expect(late).toMatchObject({ status: 409, body: { code: 'input_not_required' } });
    expect(await engine.receive([id])).toMatchObject([{ kind: 'background_call.result' }]);
    expect(upstream.calls).toHaveLength(1);
  });
});
