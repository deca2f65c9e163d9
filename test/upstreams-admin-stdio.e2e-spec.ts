import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { McpServerDirectory } from '../src/upstreams/registration/mcp-server.directory.js';
import { UpstreamPool } from '../src/upstreams/upstream-pool.js';
import { UpstreamsModule } from '../src/upstreams/upstreams.module.js';
import { type BaseApp, startBaseApp } from './support/base-app.js';
import type { TestResponse } from './support/http-client.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';
import { aListener, aToolRequest } from './support/upstream-call.js';

const ADMIN_KEY = 'admin-key-of-the-stdio-test';
const SERVERS = '/admin/v1/mcp-servers';
const ALLOWED = '/opt/reports/server';
const NOWHERE = 'http://127.0.0.1:9/mcp';
const stdio = (fields: object): object => ({ transport: 'stdio', command: ALLOWED, ...fields });

describe('The admin API of MCP servers that are programs', () => {
  let database: TestDatabase;
  let open: BaseApp;
  /** On the same database, with an empty list of allowed commands. */
  let closed: BaseApp;

  beforeAll(async () => {
    database = await createTestDatabase();
    const start = (commands: string): Promise<BaseApp> => {
      const environment = {
        DATABASE_URL: database.url,
        BGC_ADMIN_KEY: ADMIN_KEY,
        BGC_STDIO_COMMANDS: commands,
      };
      return startBaseApp(environment, [], [UpstreamsModule]);
    };
    [open, closed] = await Promise.all([start(`npx, ${ALLOWED}`), start('')]);
  });
  afterAll(async () => {
    await Promise.all([open?.close(), closed?.close()]);
    await database.drop();
  });

  const send = (
    method: string,
    path: string,
    json?: unknown,
    replica = open,
  ): Promise<TestResponse> =>
    replica.send({
      method,
      url: SERVERS + path,
      headers: { authorization: `Bearer ${ADMIN_KEY}` },
      ...(json !== undefined && { json }),
    });
  const create = async (fields: object): Promise<string> => {
    const response = await send('POST', '', fields);
    expect(response.status).toBe(201);
    return (response.body as { id: string }).id;
  };
  const known = (name: string): object => open.app.get(McpServerDirectory).byName(name)!;
  const refused = {
    code: 'command_not_allowed',
    detail: expect.stringContaining('BGC_STDIO_COMMANDS'),
    errors: [{ pointer: '/command' }],
  };

  it('registers an allowed command, with the values of its environment masked', async () => {
    const fields = { args: ['--lang', '中文', ''], env: { API_TOKEN: 'secret' } };
    const response = await send('POST', '', stdio({ name: 'program', ...fields }));
    expect(response.status).toBe(201);
    const shown = {
      transport: 'stdio',
      command: ALLOWED,
      args: fields.args,
      env: { API_TOKEN: '***' },
      url: null,
      headers: {},
    };
    expect(response.body).toMatchObject(shown);
    expect((await send('GET', '')).body).toMatchObject({ data: [shown] });
    expect(known('program')).toMatchObject({ command: ALLOWED, ...fields });
  });

  it('changes single variables, and all arguments at once', async () => {
    const env = { A: '1', B: '2' };
    const id = await create(stdio({ name: 'changing', args: ['x'], env }));
    const patch = { args: ['y', 'z'], env: { A: null, C: '3' } };
    expect((await send('PATCH', `/${id}`, patch)).status).toBe(200);
    expect(known('changing')).toMatchObject({ args: ['y', 'z'], env: { B: '2', C: '3' } });
    expect(Object.keys((known('changing') as { env: object }).env)).toHaveLength(2);
  });

  it('refuses any other command when it is created and when it is changed', async () => {
    const id = await create(stdio({ name: 'strict' }));
    const web = await create({ name: 'web', url: NOWHERE });
    for (const command of ['/bin/sh', 'node', `${ALLOWED} `, `${ALLOWED}/../x`, 'NPX']) {
      const answers = [
        await send('POST', '', stdio({ name: 'other', command })),
        await send('PATCH', `/${id}`, { command }),
        await send('PATCH', `/${web}`, { transport: 'stdio', command }),
      ];
      for (const { status, body } of answers) {
        expect(status).toBe(403);
        expect(body).toMatchObject(refused);
      }
    }
    expect(known('strict')).toMatchObject({ command: ALLOWED });
    expect(known('web')).toMatchObject({ transport: 'http' });
  });

  it('refuses every program where none is allowed, and lets one be disabled and renamed still', async () => {
    const id = await create(stdio({ name: 'left-over' }));
    for (const [method, path, json] of [
      ['POST', '', stdio({ name: 'other' })],
      ['PATCH', `/${id}`, { args: ['x'] }],
      ['PATCH', `/${id}`, { enabled: true }],
    ] as const) {
      const { status, body } = await send(method, path, json, closed);
      expect(status).toBe(403);
      expect(body).toMatchObject(refused);
    }
    const patch = { enabled: false, name: 'left-alone', title: 'Left alone' };
    expect((await send('PATCH', `/${id}`, patch, closed)).body).toMatchObject(patch);
    const moved = { transport: 'sse', url: NOWHERE };
    expect((await send('PATCH', `/${id}`, moved, closed)).body).toMatchObject(moved);
  });

  it('does not start a program that is no longer allowed: its calls say why', async () => {
    await create(stdio({ name: 'outlawed' }));
    const directory = closed.app.get(McpServerDirectory);
    await directory.refresh();
    const pool = closed.app.get(UpstreamPool, { strict: false });
    const call = pool.call(directory.byName('outlawed')!, aToolRequest('x'), aListener());
    expect(await call.outcome).toMatchObject({
      code: 'upstream_unreachable',
      message: expect.stringContaining('BGC_STDIO_COMMANDS'),
      outcomeUnknown: false,
    });
  });

  it('moves between transports when the result is whole, and drops what does not fit', async () => {
    const id = await create({ name: 'moving', url: NOWHERE, headers: { 'x-a': '1' } });
    const wrong = async (patch: object, ...pointers: string[]): Promise<void> => {
      const { status, body } = await send('PATCH', `/${id}`, patch);
      expect(status).toBe(400);
      expect(body).toMatchObject({ errors: pointers.map((pointer) => ({ pointer })) });
    };
    expect((await send('PATCH', `/${id}`, { transport: 'sse' })).body).toMatchObject({
      transport: 'sse',
      url: NOWHERE,
      headers: { 'x-a': '***' },
    });
    await wrong({ transport: 'stdio' }, '/command');
    await wrong(
      { transport: 'stdio', command: 'npx', url: NOWHERE, headers: {} },
      '/url',
      '/headers',
    );
    await wrong({ command: 'npx', args: [], env: {} }, '/command', '/args', '/env');
    const program = { transport: 'stdio', command: 'npx', env: { A: '1' } };
    expect((await send('PATCH', `/${id}`, program)).body).toMatchObject({
      url: null,
      headers: {},
      command: 'npx',
      args: [],
    });
    await wrong({ url: NOWHERE }, '/url');
    await wrong({ transport: 'http' }, '/url');
    expect((await send('PATCH', `/${id}`, { transport: 'http', url: NOWHERE })).body).toMatchObject(
      { headers: {}, command: null, args: [], env: {} },
    );
  });

  it.each([
    ['/command', { command: '' }],
    ['/command', { command: 7 }],
    ['/command', { command: 'a\0b' }],
    ['/command', { command: undefined }],
    ['/command', { command: 'x'.repeat(1_025) }],
    ['/args', { args: 'one' }],
    ['/args', { args: [1] }],
    ['/args', { args: ['a\0b'] }],
    ['/args', { args: ['\ud800'] }],
    ['/args', { args: ['x'.repeat(4_097)] }],
    ['/args', { args: Array(65).fill('x') }],
    ['/env', { env: [] }],
    ['/env', { env: { 'A=B': 'x' } }],
    ['/env', { env: { '': 'x' } }],
    ['/env', { env: { A: 1 } }],
    ['/env', { env: { A: null } }],
    ['/env', { env: { A: 'a\0b' } }],
    ['/env', { env: { A: '***' } }],
    ['/env', { env: { A: 'x'.repeat(8_193) } }],
    ['/env', { env: { LD_PRELOAD: '/tmp/x.so' } }],
    ['/env', { env: { NODE_OPTIONS: '--import=data:text/javascript,x' } }],
    ['/env', { env: { PATH: '/tmp' } }],
    ['/env', { env: Object.fromEntries([...Array(65).keys()].map((n) => [`V${n}`, 'x'])) }],
    ['/headers', { headers: {} }],
  ])('refuses a wrong %s', async (pointer, fields) => {
    const response = await send('POST', '', stdio({ name: 'wrong', ...fields }));
    expect(response.status).toBe(400);
    expect(response.body).toMatchObject({ code: 'invalid_request', errors: [{ pointer }] });
  });
});
