import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { scrape } from './support/metrics.js';
import { KEYS } from './support/keys.js';
import { ServiceProcess } from './support/service-process.js';
import { changeDelivery } from './support/webhook-app.js';
import { status, WebhookReceiver } from './support/webhook-receiver.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const SECRETS = {
  argument: 'secret-of-the-arguments',
  result: 'secret-of-the-result',
  header: 'secret-of-the-headers',
};

describe('the log', () => {
  let database: TestDatabase;
  let upstream: McpTestServer;
  let service: ServiceProcess;

  beforeAll(async () => {
    database = await createTestDatabase();
    upstream = await McpTestServer.start();
    service = await ServiceProcess.start({ DATABASE_URL: database.url });
    const headers = { authorization: SECRETS.header };
    const server = { name: 'test', title: 'Test', url: upstream.url, headers };
    expect((await service.admin.post('/admin/v1/mcp-servers', server)).status).toBe(201);
  });

  afterAll(async () => {
    await service.end('SIGKILL');
    await upstream.stop();
    await database.drop();
  });

  it('shows the way of a call by its callId, from the handover to the acknowledgement', async () => {
    const engine = service.session('followed');
    const answer = await engine.call(
      'gate',
      { name: SECRETS.argument },
      { background: { autoAfterSec: 0.05 } },
    );
    const callId = answer.body.call.id as string;
    upstream.release(SECRETS.argument, {
      content: [{ type: 'text', text: SECRETS.result }],
      structuredContent: { text: SECRETS.result },
    });
    const [message] = await engine.messages(10);
    await engine.ack(message.id);
    const line = await eventually('all is logged', () => {
      const lines = service.logged('callId', callId);
      return lines.length >= 4 && lines;
    });
    const messageId = message.id as string;
    expect(line).toMatchObject([
      {
        event: 'background_call.handed_over',
        handover: 'auto',
        server: 'test',
        requestId: answer.headers.get('x-request-id'),
      },
      { event: 'background_call.ended', status: 'completed', durationMs: expect.any(Number) },
      { event: 'message.handed_out', messageId, attempts: 1 },
      { event: 'message.acknowledged', messageId, attempts: 1 },
    ]);
    expect(line[1]).not.toHaveProperty('requestId');
  });

  it('says why a call failed by its code', async () => {
    const engine = service.session('failed');
    const { id } = await engine.callInBackground('fail', { message: SECRETS.result });
    await engine.receive([id]);
    const [ended] = service
      .logged('callId', id)
      .filter(({ event }) => event === 'background_call.ended');
    expect(ended).toMatchObject({ status: 'failed', code: 'tool_error' });
  });

  it('tells of webhooks: what came of each try, that a message was taken, or is a dead letter', async () => {
    const receiver = await WebhookReceiver.start();
    const webhook = { mode: 'webhook', url: receiver.url };
    const secret = (await changeDelivery(service.admin, webhook)) ?? '';
    receiver.answer(status(500), status(410));
    const { id: first } = await service.session('sent').callInBackground('echo');
    const ofFirst = await eventually('it is dead', () => {
      const lines = service.logged('callId', first);
      return lines.some(({ event }) => event === 'message.dead') && lines;
    });
    const { id: second } = await service.session('sent').callInBackground('echo');
    await eventually('it is taken', () =>
      service.logged('callId', second).some(({ event }) => event === 'message.acknowledged'),
    );
    const messageId = receiver.received[0]?.id ?? '';
    expect(ofFirst.filter(({ event }) => String(event).startsWith('message'))).toMatchObject([
      { event: 'message.handed_out', messageId, attempts: 1 },
      { event: 'message.handed_out', messageId, attempts: 2 },
      { event: 'message.dead', messageId, attempts: 2, reason: 'receiver_gone' },
    ]);
    const tries = service
      .logged('messageId', messageId)
      .filter(({ event }) => event === 'webhook.tried');
    const appId = expect.stringMatching(/^app_/);
    expect(tries).toMatchObject([
      { appId, outcome: 'failed', status: 500, error: 'HTTP 500' },
      { appId, outcome: 'gone', status: 410, error: 'HTTP 410' },
    ]);
    const figures = await scrape(service.url);
    expect(figures.get('bgc_messages_dead_total{reason="receiver_gone"}')).toBe(1);
    expect(figures.get('bgc_webhook_duration_seconds_count{outcome="delivered"}')).toBe(1);
    expect(service.lines.join('\n')).not.toContain(secret.slice('whsec_'.length));
    await changeDelivery(service.admin, { mode: 'pull' });
    await receiver.stop();
  });

  it('carries no arguments, results, headers or keys, whatever becomes of calls', async () => {
    const engine = service.session('kept-to-itself');
    const secret = { message: SECRETS.argument };
    await engine.call('echo', secret);
    await engine.call('fail', secret);
    await engine.call('no_such_tool', secret);
    const cancelled = await engine.callInBackground('stubborn', { ms: 60_000, ...secret });
    await engine.cancel(cancelled.id);
    await engine.receive([cancelled.id]);
    const bad = await service.agent.post(
      '/v1/sessions/x/tool-calls',
      `{"tool":"${SECRETS.argument}`,
    );
    expect(bad.status).toBe(400);
    const log = service.lines.join('\n');
    expect(log).toContain('background_call.ended');
    for (const text of [...Object.values(SECRETS), ...Object.values(KEYS)])
      expect(log).not.toContain(text);
  });
});
