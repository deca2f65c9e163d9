import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import { McpTestServer } from './support/mcp-server.js';
import { aSecretsKey } from './support/secrets-keys.js';
import { TestService } from './support/service.js';
import { StdioUpstream } from './support/stdio-upstream.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';
import { aListener, aToolRequest } from './support/upstream-call.js';
import { aPool, LOOPBACK } from './support/upstream-pool.js';

const TOKEN = 'Bearer token-that-nobody-shall-see';
const PLAIN_AGAIN = `
  ALTER TABLE mcp_servers DROP CONSTRAINT mcp_servers_secrets_sealed;
  UPDATE mcp_servers SET headers = '{"authorization": "${TOKEN}"}';
  ALTER TABLE mcp_servers ADD CONSTRAINT mcp_servers_secrets_sealed CHECK (
    NOT jsonb_path_exists(headers, 'strict $.* ? (@.type() == "string")')) NOT VALID`;

describe('secrets of MCP servers', () => {
  let upstream: McpTestServer;
  let database: TestDatabase;
  let service: TestService;

  beforeAll(async () => {
    upstream = await McpTestServer.start();
  });

  afterAll(() => upstream.stop());

  beforeEach(async () => {
    database = await createTestDatabase();
    service = await start('a');
  });

  afterEach(async () => {
    await service.stop();
    await database.drop();
  });

  const start = (...keys: string[]): Promise<TestService> =>
    TestService.start({ database, env: { BGC_SECRETS_KEYS: keys.map(aSecretsKey).join() } });

  const restart = async (...keys: string[]): Promise<void> => {
    await service.stop();
    service = await start(...keys);
  };

  const register = async (name: string): Promise<string> => {
    const headers = { authorization: TOKEN };
    const fields = { name, url: upstream.url, headers };
    const { status, body } = await service.admin.post('/admin/v1/mcp-servers', fields);
    expect(status).toBe(201);
    return body.id as string;
  };

  const stored = async (): Promise<any[]> =>
    service.sql(`SELECT mcp_servers.id, mcp_servers.headers, mcp_servers.env FROM mcp_servers
      ORDER BY mcp_servers.name`);

  /** What the upstream is sent for a call. */
  const sentToken = async (server: string): Promise<string | undefined> => {
    upstream.headers.length = 0;
    const answer = await service.session().call('echo', {}, { server });
    expect(answer.status).toBe(200);
    return upstream.headers[0]?.authorization;
  };

  const expectUnusable = async (name: string, id: string, why: string): Promise<void> => {
    const call = await service.session().call('echo', {}, { server: name });
    expect(call).toMatchObject({ status: 502, body: { code: 'upstream_unreachable' } });
    expect(call.body.detail).toContain(why);
    const test = await service.admin.post(`/admin/v1/mcp-servers/${id}/test`, {});
    expect(test.body).toMatchObject({ reachable: false });
    const list = await service.admin.get('/admin/v1/mcp-servers');
    const shown = (list.body.data as any[]).find((one) => one.name === name);
    expect(shown).toMatchObject({ reachable: false, headers: { authorization: '***' } });
    expect(shown.lastError.message).toContain(why);
    expect(call.text + test.text + list.text).not.toContain('nobody-shall-see');
  };

  it('are sealed at rest, each on its own, and sent as they are', async () => {
    await register('one');
    await register('two');
    const [one, two] = await stored();
    expect(one.headers).toEqual({
      authorization: { key: 'a', sealed: expect.any(String) },
    });
    expect(one.headers.authorization.sealed).not.toBe(two.headers.authorization.sealed);
    expect(await sentToken('one')).toBe(TOKEN);
    await restart('a');
    expect(await sentToken('two')).toBe(TOKEN);
  });

  it('stay when something else is changed, and can be changed one by one', async () => {
    const id = await register('one');
    const change = { title: 'Other', headers: { cookie: 'c=1' } };
    await service.admin.patch(`/admin/v1/mcp-servers/${id}`, change);
    expect(await sentToken('one')).toBe(TOKEN);
    expect(upstream.headers[0]?.cookie).toBe('c=1');
  });

  it('are never stored as plain text, whoever writes', async () => {
    await register('one');
    const plain = service.sql(`UPDATE mcp_servers SET headers = '{"authorization": "x"}'`);
    await expect(plain).rejects.toThrow('mcp_servers_secrets_sealed');
  });

  it('that were stored before they were sealed are sealed at start', async () => {
    await register('one');
    for (const statement of PLAIN_AGAIN.split(';')) await service.sql(statement);
    await restart('a');
    expect((await stored())[0].headers.authorization).toMatchObject({ key: 'a' });
    expect(await sentToken('one')).toBe(TOKEN);
  });

  it('are sealed anew at start when there is another first key, and need the old one no more', async () => {
    await register('one');
    await restart('b', 'a');
    expect((await stored())[0].headers.authorization).toMatchObject({ key: 'b' });
    await restart('b');
    expect(await sentToken('one')).toBe(TOKEN);
  });

  it('copied to another server do not open there, which goes on when it is given its own', async () => {
    await register('one');
    const id = await register('two');
    const [from] = await stored();
    await service.sql(`UPDATE mcp_servers SET headers = $1 WHERE name = 'two'`, [
      JSON.stringify(from.headers),
    ]);
    await restart('a');
    await expectUnusable('two', id, 'header authorization');
    expect(await sentToken('one')).toBe(TOKEN);
    await service.admin.patch(`/admin/v1/mcp-servers/${id}`, { headers: { authorization: 'own' } });
    expect(await sentToken('two')).toBe('own');
  });

  it('without their key make their server unusable until the key is back, whatever else is changed', async () => {
    const id = await register('one');
    const [before] = await stored();
    await restart('b');
    await expectUnusable('one', id, 'its key "a" is not among BGC_SECRETS_KEYS');
    const change = await service.admin.patch(`/admin/v1/mcp-servers/${id}`, { title: 'Other' });
    expect(change.status).toBe(200);
    expect((await stored())[0].headers).toEqual(before.headers);
    await restart('b', 'a');
    expect(await sentToken('one')).toBe(TOKEN);
  });

  it('are masked in what an upstream says that sends them back', async () => {
    const echoing = await McpTestServer.start({
      intercept: (request, response, body) => {
        if (!isRefusing && !body.includes('tools/call')) return false;
        response.writeHead(isRefusing ? 401 : 400, { 'content-type': 'text/plain' });
        response.end(`not welcome: ${request.headers.authorization}`);
        return true;
      },
    });
    let isRefusing = false;
    const headers = { authorization: TOKEN };
    const fields = { name: 'echoing', url: echoing.url, headers };
    const id = (await service.admin.post('/admin/v1/mcp-servers', fields)).body.id as string;
    const call = await service.session().call('echo', {}, { server: 'echoing' });
    expect(call.body.detail).toContain('not welcome: ***');
    isRefusing = true;
    const test = await service.admin.post(`/admin/v1/mcp-servers/${id}/test`, {});
    expect(test.body.error.message).toContain('not welcome: ***');
    const shown = await service.admin.get(`/admin/v1/mcp-servers/${id}`);
    expect(shown.body.lastError.message).toContain('not welcome: ***');
    expect(call.text + test.text + shown.text).not.toContain('nobody-shall-see');
    await echoing.stop();
  });

  it('are masked in the last words of a program', async () => {
    const program = new StdioUpstream();
    const server = program.server('well', { env: { API_TOKEN: TOKEN } });
    const http = new OutboundHttp(LOOPBACK);
    const pool = aPool(http);
    const said = aToolRequest('exit', { code: 1, say: `env: ${TOKEN}` });
    expect(await pool.call(server, said, aListener()).outcome).toMatchObject({
      kind: 'error',
      message: expect.stringContaining('env: ***'),
    });
    await pool.onApplicationShutdown();
    await http.onApplicationShutdown();
    program.remove();
  });
});
