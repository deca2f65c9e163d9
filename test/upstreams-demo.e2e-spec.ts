import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { DemoModule } from '../src/demo/demo.module.js';
import type { HttpMcpServer } from '../src/upstreams/mcp-server.js';
import { McpServerDirectory } from '../src/upstreams/registration/mcp-server.directory.js';
import type { UpstreamCall, UpstreamProgress } from '../src/upstreams/upstream-call.js';
import { UpstreamPool } from '../src/upstreams/upstream-pool.js';
import { UpstreamsModule } from '../src/upstreams/upstreams.module.js';
import { type BaseApp, startBaseApp } from './support/base-app.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';
import { aListener, aToolRequest } from './support/upstream-call.js';

describe('The demo upstream', () => {
  let database: TestDatabase;
  let service: BaseApp | undefined;
  const progress: UpstreamProgress[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());
  afterEach(async () => {
    await service?.close();
    service = undefined;
  });

  const start = async (demo: boolean): Promise<McpServerDirectory> => {
    const environment = {
      DATABASE_URL: database.url,
      BGC_DEMO: String(demo),
      BGC_ADMIN_KEY: 'admin-key-of-the-demo-test',
      BGC_AGENT_KEY: 'agent-key-of-the-demo-test',
      BGC_BOT_KEY: 'bot-key-of-the-demo-test',
    };
    service = await startBaseApp(environment, [], [UpstreamsModule, DemoModule]);
    return service.app.get(McpServerDirectory);
  };
  const call = (tool: string, args: Record<string, unknown>): UpstreamCall => {
    const server = service!.app.get(McpServerDirectory).byName('demo')!;
    return service!.app
      .get(UpstreamPool, { strict: false })
      .call(
        server,
        aToolRequest(tool, args),
        aListener({ onProgress: (one) => void progress.push(one) }),
      );
  };

  const demo = (directory: McpServerDirectory): HttpMcpServer =>
    directory.byName('demo') as HttpMcpServer;

  it('is registered when it is wanted, at a new address after each start', async () => {
    expect((await start(false)).byName('demo')).toBeUndefined();
    await service?.close();
    const first = demo(await start(true));
    await service?.close();
    const second = demo(await start(true));
    expect(second).toEqual({
      ...first,
      url: expect.any(String),
      revision: expect.any(Number),
      updatedAt: expect.any(Date),
    });
    expect(second.url).not.toBe(first.url);
    expect(await call('echo', { text: 'hello' }).outcome).toMatchObject({
      result: { content: [{ type: 'text', text: 'hello' }] },
    });
  });

  it('takes its time, tells its progress, fails, answers much, and can be cancelled', async () => {
    await start(true);
    expect(await call('export_report', { seconds: 1.2 }).outcome).toMatchObject({
      result: { content: [{ text: expect.stringContaining('Report written in 1.2 s') }] },
    });
    expect(progress[0]).toEqual({ progress: 1, total: 1.2, message: '83 % written' });
    expect(await call('fail_after', { seconds: 0.1 }).outcome).toMatchObject({
      kind: 'result',
      result: { isError: true },
    });
    const big = await call('big_result', { kilobytes: 300 }).outcome;
    const { result } = big as unknown as { result: { content: { text: string }[] } };
    expect(result.content[0]?.text).toHaveLength(300 * 1_024);
    const long = call('export_report', { seconds: 600 });
    await call('echo', { text: 'meanwhile' }).outcome;
    await long.cancel('enough');
    expect(await long.outcome).toMatchObject({ kind: 'error' });
  });
});
