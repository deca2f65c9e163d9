import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApiResponse } from './support/api.js';
import { McpTestServer, type McpServerOptions } from './support/mcp-server.js';
import { UpstreamsOfTest } from './support/upstreams-of-test.js';
import { TestService } from './support/service.js';

const SERVERS = '/admin/v1/mcp-servers';
const EVERYTHING = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
);

describe('The test of an MCP server', () => {
  let service: TestService;
  const upstreams = new UpstreamsOfTest();

  beforeAll(async () => {
    service = await TestService.start({ env: { BGC_STDIO_COMMANDS: process.execPath } });
  });
  afterAll(async () => {
    await service?.stop();
  });
  afterEach(() => upstreams.stopAll());

  const start = (options?: McpServerOptions): Promise<McpTestServer> => upstreams.start(options);
  const test = (id: string): Promise<ApiResponse> => service.admin.post(`${SERVERS}/${id}/test`);
  const see = async (id: string): Promise<any> =>
    (await service.admin.get(`${SERVERS}/${id}`)).body;

  it('connects anew, tells what it found, and leaves nothing open', async () => {
    const page = (name: string): { name: string; inputSchema: object }[] => [
      { name, inputSchema: { type: 'object' } },
    ];
    const upstream = await start({ toolPages: [page('a'), page('b')] });
    const id = await service.register('well', upstream.url);
    await service.session().call('echo', {}, { server: 'well' });
    const { status, body } = await test(id);
    expect(status).toBe(200);
    expect(body).toEqual({
      reachable: true,
      durationMs: expect.any(Number),
      server: { name: 'test', version: '1', protocolVersion: '2025-11-25' },
      toolCount: 2,
    });
    expect(upstream).toMatchObject({ initializes: 2, deletes: 1 });
    expect(await see(id)).toMatchObject({ reachable: true, lastError: null });
  });

  it('tells why a server can not be reached, and moves what is seen each time', async () => {
    const upstream = await McpTestServer.start();
    const { url, port } = upstream;
    await upstream.stop();
    const id = await service.register('dead', url);
    const error = {
      code: 'upstream_unreachable',
      message: expect.stringContaining('ECONNREFUSED'),
    };
    const { status, body } = await test(id);
    expect(status).toBe(200);
    expect(body).toEqual({ reachable: false, durationMs: expect.any(Number), error });
    const first = await see(id);
    expect(first).toMatchObject({ reachable: false, lastError: error });
    await test(id);
    const second = await see(id);
    expect(Date.parse(second.lastCheckedAt)).toBeGreaterThan(Date.parse(first.lastCheckedAt));
    await start({ port });
    expect((await test(id)).body).toMatchObject({ reachable: true });
    expect(await see(id)).toMatchObject({ reachable: true, lastError: null, nextTryAt: null });
  });

  it('tries a disabled server too, once', async () => {
    const upstream = await start();
    const id = await service.register('off', upstream.url);
    await service.admin.patch(`${SERVERS}/${id}`, { enabled: false });
    expect((await test(id)).body).toMatchObject({ reachable: true });
    expect(await see(id)).toMatchObject({ enabled: false, reachable: true });
    await upstream.stop();
    upstreams.forget();
    expect((await test(id)).body).toMatchObject({ reachable: false });
    expect(await see(id)).toMatchObject({ enabled: false, reachable: false, nextTryAt: null });
  });

  it.each(['initialize', 'tools/list'])(
    'ends within 15 s when %s is never answered',
    async (method) => {
      const upstream = await start({
        intercept: (_request, _response, body) => body.includes(`"${method}"`),
      });
      const id = await service.register(`silent-${method.replace('/', '-')}`, upstream.url);
      const begun = performance.now();
      const { body } = await test(id);
      expect(performance.now() - begun).toBeLessThan(15_000);
      expect(body).toMatchObject({
        reachable: false,
        error: { code: 'upstream_unreachable', message: expect.stringContaining('No answer') },
      });
      expect(await see(id)).toMatchObject({ reachable: method === 'tools/list' });
    },
    30_000,
  );

  it('starts an allowed program and ends it, and refuses any other', async () => {
    const program = {
      name: 'program',
      transport: 'stdio',
      command: process.execPath,
      args: [EVERYTHING, 'stdio'],
    };
    const { id } = (await service.admin.post(SERVERS, program)).body as { id: string };
    expect((await test(id)).body).toMatchObject({
      reachable: true,
      toolCount: expect.any(Number),
    });
    await service.sql(`UPDATE mcp_servers SET command = '/bin/sh' WHERE name = 'program'`);
    const refused = await test(id);
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({ code: 'command_not_allowed' });
  });

  it('is 404 for ids that nobody has', async () => {
    for (const id of ['msv_nonsense', 'msv_01h455vb4pex5vsknk084sn02q'])
      expect((await test(id)).status).toBe(404);
  });
});
