import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { McpTestServer } from './support/mcp-server.js';
import { TestService } from './support/service.js';
import { KEEP_ALIVE_TIMER, timersOfSocketsTo } from './support/tcp-timers.js';

describe('a request to an MCP server', () => {
  let upstream: McpTestServer;
  let redirecting: Server;
  let service: TestService;
  let strict: TestService;

  beforeAll(async () => {
    upstream = await McpTestServer.start();
    redirecting = createServer((_, response) => {
      response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    });
    await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
    service = await TestService.start();
    strict = await TestService.start({ env: { BGC_OUTBOUND_ALLOW: '192.0.2.1' } });
  });
  afterAll(async () => {
    await strict?.stop();
    await service?.stop();
    await upstream.stop();
    redirecting.close();
  });

  let count = 0;
  async function callAt(of: TestService, url: string) {
    const server = `server-${(count += 1)}`;
    await of.register(server, url);
    return of.session().call('echo', {}, { server });
  }

  const port = (): number => upstream.port;
  it.each([
    ['dotted', () => `http://127.0.0.1:${port()}/mcp`],
    ['decimal', () => `http://2130706433:${port()}/mcp`],
    ['octal', () => `http://0177.0.0.1:${port()}/mcp`],
    ['hexadecimal', () => `http://0x7f.0x0.0x0.0x1:${port()}/mcp`],
    ['short', () => `http://127.1:${port()}/mcp`],
    ['IPv6', () => `http://[::1]:${port()}/mcp`],
    ['IPv6-mapped', () => `http://[::ffff:127.0.0.1]:${port()}/mcp`],
    ['unspecified', () => `http://0.0.0.0:${port()}/mcp`],
    ['a name of a private address', () => `http://localhost:${port()}/mcp`],
    ['metadata service', () => 'http://169.254.169.254/mcp'],
    ['private network', () => 'https://10.0.0.1/mcp'],
  ])('goes nowhere near %s', async (_what, url) => {
    const before = upstream.headers.length;
    const answer = await callAt(strict, url());
    expect(answer).toMatchObject({ status: 502, body: { code: 'outbound_refused' } });
    expect(answer.body.detail).toContain('BGC_OUTBOUND_ALLOW');
    expect(upstream.headers).toHaveLength(before);
  });

  it('is not even registered with a URL that hides its address in full-width digits', async () => {
    const body = { name: 'wide', title: 'Wide', url: `http://１２７.０.０.１:${port()}/mcp` };
    expect(await strict.admin.post('/admin/v1/mcp-servers', body)).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '/url' }] },
    });
  });

  it('is not sent on to where a redirect points', async () => {
    const { port: at } = redirecting.address() as AddressInfo;
    expect(await callAt(service, `http://127.0.0.1:${at}/mcp`)).toMatchObject({
      status: 502,
      body: { code: 'outbound_refused', detail: expect.stringContaining('169.254.169.254') },
    });
  });

  it('goes where the allow-list says', async () => {
    expect(await callAt(service, upstream.url)).toMatchObject({ status: 200 });
  });

  it('tells a call that has moved to the background why it was not sent', async () => {
    await strict.register('moved', upstream.url);
    const engine = strict.session();
    const { id } = await engine.callInBackground('echo', {}, { server: 'moved' });
    expect(await engine.get(id, 10)).toMatchObject({
      status: 'failed',
      error: { code: 'outbound_refused' },
      outcomeUnknown: false,
    });
    const [message] = await engine.receive([id]);
    expect(message.text).toContain('不允许连接该 MCP 服务的地址');
  });

  it('asks a silent connection for a sign of life by TCP within 20 s', async () => {
    await service.register('silent', upstream.url);
    const engine = service.session();
    const { id } = await engine.callInBackground('gate', { name: 'x' }, { server: 'silent' });
    await upstream.until(() => upstream.calls.some(({ tool }) => tool === 'gate'));
    const timers = timersOfSocketsTo(upstream.port);
    expect(timers.length).toBeGreaterThan(0);
    for (const { kind, inSeconds } of timers) {
      expect(kind).toBe(KEEP_ALIVE_TIMER);
      expect(inSeconds).toBeLessThanOrEqual(20);
    }
    upstream.release('x');
    await engine.get(id, 10);
  });
});
