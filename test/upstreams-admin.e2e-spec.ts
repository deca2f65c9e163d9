import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { McpServerDirectory } from '../src/upstreams/registration/mcp-server.directory.js';
import { UpstreamsModule } from '../src/upstreams/upstreams.module.js';
import { type BaseApp, startBaseApp } from './support/base-app.js';
import { eventually } from './support/eventually.js';
import type { TestResponse } from './support/http-client.js';
import { McpTestServer } from './support/mcp-server.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const ADMIN_KEY = 'admin-key-of-the-upstreams-test';
const AGENT_KEY = 'agent-key-of-the-upstreams-test';
const SERVERS = '/admin/v1/mcp-servers';
const NOWHERE = 'http://127.0.0.1:9/mcp';

interface Server {
  id: string;
  name: string;
  headers: Record<string, string>;
}

describe('The admin API of MCP servers', () => {
  let database: TestDatabase;
  let replicas: BaseApp[];

  beforeAll(async () => {
    database = await createTestDatabase();
    const environment = {
      DATABASE_URL: database.url,
      BGC_ADMIN_KEY: ADMIN_KEY,
      BGC_AGENT_KEY: AGENT_KEY,
      BGC_BOT_KEY: 'bot-key-of-the-upstreams-test',
      BGC_OUTBOUND_ALLOW: '127.0.0.1',
    };
    const start = (): Promise<BaseApp> => startBaseApp(environment, [], [UpstreamsModule]);
    replicas = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.close()));
    await database.drop();
  });

  const send = (
    method: string,
    path: string,
    json?: unknown,
    key = ADMIN_KEY,
  ): Promise<TestResponse> =>
    replicas[0]!.send({
      method,
      url: SERVERS + path,
      headers: { authorization: `Bearer ${key}` },
      ...(json !== undefined && { json }),
    });
  const create = async (fields: object): Promise<Server> => {
    const response = await send('POST', '', { url: NOWHERE, ...fields });
    expect(response.status).toBe(201);
    return response.body as Server;
  };
  const directory = (replica = 0): McpServerDirectory =>
    replicas[replica]!.app.get(McpServerDirectory);

  it('registers a server that is down, and shows it with its headers masked', async () => {
    const given = { name: 'down', url: NOWHERE, headers: { 'X-Api-Key': 'secret' } };
    const response = await send('POST', '', given);
    expect(response.status).toBe(201);
    const server = response.body as Server;
    expect(server).toEqual({
      id: expect.stringMatching(/^msv_/),
      name: 'down',
      title: 'down',
      transport: 'http',
      url: NOWHERE,
      headers: { 'x-api-key': '***' },
      command: null,
      args: [],
      env: {},
      sharing: 'shared',
      enabled: true,
      reachable: null,
      lastError: null,
      lastCheckedAt: null,
      nextTryAt: null,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
    });
    expect(response.headers.get('location')).toBe(`${SERVERS}/${server.id}`);
    expect((await send('GET', `/${server.id}`)).body).toEqual(server);
    expect(directory().byName('down')).toMatchObject({ headers: { 'x-api-key': 'secret' } });
  });

  it('holds on another replica within a second', async () => {
    const { id } = await create({ name: 'elsewhere' });
    await eventually('known elsewhere', () => directory(1).byName('elsewhere'), 1_000);
    await send('PATCH', `/${id}/tools/x`, { background: 'always' });
    const { id: uuid } = directory().byName('elsewhere')!;
    await eventually('mode', () => directory(1).toolMode(uuid, 'x') === 'always', 1_000);
  });

  it('takes who uses one connection, and refuses what it does not know', async () => {
    const { id } = await create({ name: 'one-each', sharing: 'session' });
    expect(directory().byName('one-each')).toMatchObject({ sharing: 'session' });
    const changed = await send('PATCH', `/${id}`, { sharing: 'call' });
    expect(changed.body).toMatchObject({ sharing: 'call' });
    const wrong = await send('PATCH', `/${id}`, { sharing: 'none' });
    expect(wrong).toMatchObject({ status: 400, body: { errors: [{ pointer: '/sharing' }] } });
  });

  it('changes what is given and leaves the rest, in force when the answer arrives', async () => {
    const headers = { authorization: 'Bearer one', 'x-other': '1' };
    const { id } = await create({ name: 'changing', title: '报告 · Reports', headers });
    const patch = { enabled: false, headers: { Authorization: 'Bearer two', 'x-other': null } };
    const response = await send('PATCH', `/${id}`, patch);
    expect(response.body).toMatchObject({
      title: '报告 · Reports',
      enabled: false,
      headers: { authorization: '***' },
    });
    expect(directory().byName('changing')).toMatchObject({
      enabled: false,
      headers: { authorization: 'Bearer two' },
    });
    await send('PATCH', `/${id}`, { name: 'changed' });
    expect(directory().byName('changing')).toBeUndefined();
    expect(directory().byName('changed')).toBeDefined();
  });

  it('removes a server with what was said about its tools', async () => {
    const { id } = await create({ name: 'short-lived' });
    await send('PATCH', `/${id}/tools/x`, { background: 'never' });
    expect((await send('DELETE', `/${id}`)).status).toBe(204);
    expect(directory().byName('short-lived')).toBeUndefined();
    for (const [method, path] of [
      ['GET', `/${id}`],
      ['DELETE', `/${id}`],
      ['GET', `/${id}/tools`],
    ] as const)
      expect((await send(method, path)).status).toBe(404);
    expect((await send('PATCH', `/${id}`, {})).status).toBe(404);
    expect((await send('PATCH', `/${id}/tools/x`, { background: 'auto' })).status).toBe(404);
    expect((await send('GET', '/msv_nonsense')).status).toBe(404);
  });

  it('refuses a name that is taken, also when it is changed to it', async () => {
    await create({ name: 'taken' });
    const other = await create({ name: 'free' });
    const conflict = { code: 'conflict', errors: [{ pointer: '/name', detail: 'is taken' }] };
    const created = await send('POST', '', { name: 'taken', url: NOWHERE });
    const renamed = await send('PATCH', `/${other.id}`, { name: 'taken' });
    for (const { status, body } of [created, renamed]) {
      expect(status).toBe(409);
      expect(body).toMatchObject(conflict);
    }
  });

  it.each([
    ['/name', { name: 'Upper' }],
    ['/name', { name: '' }],
    ['/name', { name: 'x'.repeat(64) }],
    ['/name', { name: undefined }],
    ['/title', { title: '' }],
    ['/title', { title: null }],
    ['/url', { url: 'ftp://example.com' }],
    ['/url', { url: 'http://user:password@example.com/' }],
    ['/url', { url: 'example.com' }],
    ['/url', { url: 7 }],
    ['/transport', { transport: 'carrier pigeon' }],
    ['/transport', { transport: null }],
    ['/url', { url: undefined }],
    ['/url', { url: undefined, transport: 'sse' }],
    ['/command', { command: 'node' }],
    ['/env', { env: {} }],
    ['/enabled', { enabled: 'yes' }],
    ['/headers', { headers: [] }],
    ['/headers', { headers: { 'with space': 'x' } }],
    ['/headers', { headers: { 'x-a': 'line\nbreak' } }],
    ['/headers', { headers: { 'x-a': null } }],
    ['/headers', { headers: { 'x-a': '***' } }],
    ['/headers', { headers: { Host: 'example.com' } }],
    ['/headers', { headers: { 'Mcp-Session-Id': 'x' } }],
    ['/args', { args: [] }],
  ])('refuses a wrong %s: %j', async (pointer, fields) => {
    const response = await send('POST', '', { name: 'wrong', url: NOWHERE, ...fields });
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'invalid_request', errors: [{ pointer }] });
  });

  it('refuses unknown values and fields of a change', async () => {
    const { id } = await create({ name: 'strict' });
    for (const [pointer, json] of [
      ['/name', { name: null }],
      ['/colour', { colour: 1 }],
    ] as const)
      expect((await send('PATCH', `/${id}`, json)).body).toMatchObject({ errors: [{ pointer }] });
    for (const json of [{}, { background: 'sometimes' }])
      expect((await send('PATCH', `/${id}/tools/x`, json)).body).toMatchObject({
        errors: [{ pointer: '/background' }],
      });
  });

  it('lists in pages', async () => {
    await create({ name: 'list-a' });
    await create({ name: 'list-b' });
    const names: string[] = [];
    let query = '?limit=2&order=asc';
    for (;;) {
      const { body } = await send('GET', query);
      const { data, hasMore, nextCursor } = body as {
        data: Server[];
        hasMore: boolean;
        nextCursor: string;
      };
      names.push(...data.map(({ name }) => name));
      if (!hasMore) break;
      query = `?limit=2&order=asc&after=${nextCursor}`;
    }
    expect(names.slice(-2)).toEqual(['list-a', 'list-b']);
    expect(new Set(names).size).toBe(names.length);
    const newest = (await send('GET', '?limit=1')).body as { data: Server[] };
    expect(newest.data[0]?.name).toBe('list-b');
    expect((await send('GET', '?limit=0')).status).toBe(400);
  });

  it('shows the tools of all pages as the upstream tells them, and policies of tools it lacks', async () => {
    const tool = (name: string, more = {}): Record<string, unknown> => ({
      name,
      inputSchema: { type: 'object' },
      ...more,
    });
    const upstream = await McpTestServer.start({
      toolPages: [
        [tool('one', { icons: [{ src: 'x' }], unheard: 1 })],
        [tool('a/b c%2F'), { name: 'broken' }, tool('x')],
      ],
    });
    const { id } = await create({ name: 'paged', url: upstream.url });
    for (const [name, background] of [
      ['a/b c%2F', 'always'],
      ['not there yet', 'never'],
    ] as const) {
      const path = `/${id}/tools/${encodeURIComponent(name)}`;
      expect((await send('PATCH', path, { background })).body).toEqual({ name, background });
    }
    expect((await send('GET', `/${id}/tools`)).body).toEqual({
      data: [
        { ...tool('one'), icons: [{ src: 'x' }], unheard: 1, background: 'auto', listed: true },
        { ...tool('a/b c%2F'), background: 'always', listed: true },
        { ...tool('x'), background: 'auto', listed: true },
        { name: 'not there yet', background: 'never', listed: false },
      ],
      leftOut: [{ name: 'broken', reason: 'its inputSchema is not an object' }],
      hasMore: false,
      nextCursor: null,
    });
    await upstream.stop();
  });

  it('takes policies while the server is down; its tools are then 502', async () => {
    const { id } = await create({ name: 'asleep' });
    const long = '工具'.repeat(64);
    const response = await send('PATCH', `/${id}/tools/${encodeURIComponent(long)}`, {
      background: 'always',
    });
    expect(response.status).toBe(200);
    const { id: uuid } = directory().byName('asleep')!;
    expect(directory().toolMode(uuid, long)).toBe('always');
    const tools = await send('GET', `/${id}/tools`);
    expect(tools.status).toBe(502);
    expect(tools.body).toMatchObject({ code: 'upstream_unreachable' });
    expect((await send('PATCH', `/${id}/tools/%00`, { background: 'auto' })).status).toBe(404);
  });

  it('ends with 502 at a tool list whose cursor does not move', async () => {
    const upstream = await McpTestServer.start({
      intercept: (_request, response, body) => {
        if (!body.includes('"tools/list"')) return false;
        const { id } = JSON.parse(body) as { id: number };
        const result = { tools: [], nextCursor: 'again' };
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
        return true;
      },
    });
    const { id } = await create({ name: 'endless', url: upstream.url });
    const tools = await send('GET', `/${id}/tools`);
    expect(tools.status).toBe(502);
    expect(tools.body).toMatchObject({ code: 'upstream_error' });
    await upstream.stop();
  });

  it('is for administrators only', async () => {
    for (const path of ['', '/msv_x', '/msv_x/tools'])
      expect((await send('GET', path, undefined, AGENT_KEY)).status).toBe(403);
  });
});
