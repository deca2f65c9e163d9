import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { McpTestServer } from '../support/mcp-server.js';
import { textResult } from '../support/mcp-tools.js';
import { ServiceProcess } from '../support/service-process.js';
import { SseTestServer } from '../support/sse-server.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { PatientClient } from './patient-client.js';

/** Longer than any limit of 300 s, which is what `fetch` has. */
const SILENT_MS = 330_000;
const LONGEST_MS = SILENT_MS + 60_000;
const RESULT = textResult(`done after ${SILENT_MS} ms`);

/** All of them are silent at the same time. */
describe(`an upstream that says nothing for ${SILENT_MS / 1_000} s`, () => {
  let streaming: McpTestServer;
  let json: McpTestServer;
  let sse: SseTestServer;
  let database: TestDatabase;
  let service: ServiceProcess;
  let client: PatientClient;
  let calls: Record<string, Promise<any>>;

  beforeAll(async () => {
    [streaming, json] = [
      await McpTestServer.start(),
      await McpTestServer.start({ jsonMode: true }),
    ];
    sse = await SseTestServer.start();
    database = await createTestDatabase();
    service = await ServiceProcess.start({ DATABASE_URL: database.url });
    client = new PatientClient(service.url);
    await service.register('streaming', streaming.url);
    await service.register('json', json.url);
    const body = { name: 'sse', title: 'sse', url: sse.url, transport: 'sse' };
    await service.admin.post('/admin/v1/mcp-servers', body);
    calls = Object.fromEntries(
      ['streaming', 'json', 'sse'].flatMap((server) =>
        (['never', 'always'] as const).map((mode) => [
          `${server} ${mode}`,
          client.call(server, 'slow', { ms: SILENT_MS }, mode),
        ]),
      ),
    );
  });

  afterAll(async () => {
    await client.close();
    await service.end('SIGKILL');
    await Promise.all([streaming.stop(), json.stop(), sse.stop()]);
    await database.drop();
  });

  it.each([
    ['on the stream of the call, without keep-alive', 'streaming'],
    ['before one JSON body', 'json'],
    ['on the stream of a session (HTTP with SSE)', 'sse'],
  ])(
    'is waited for in the foreground and in the background: %s',
    async (_, server) => {
      expect(await calls[`${server} never`]).toMatchObject({
        status: 200,
        body: { result: RESULT },
      });
      const { status, body } = await calls[`${server} always`];
      expect(status).toBe(202);
      const ended = await endOf(body.call.id as string);
      expect(ended).toMatchObject({ status: 'completed', result: { isError: false } });
      expect(ended.result.preview).toBe(`done after ${SILENT_MS} ms`);
      expect(ended.durationMs).toBeGreaterThanOrEqual(SILENT_MS);
    },
    LONGEST_MS,
  );

  async function endOf(callId: string): Promise<any> {
    const call = await service.session('any').get(callId, 60);
    return call.endedAt === null ? endOf(callId) : call;
  }
});
