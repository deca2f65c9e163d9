import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BacklogRepository } from '../src/delivery/backlog.repository.js';
import { Api } from './support/api.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { type Figures, growth, scrape } from './support/metrics.js';
import { PostgresProxy } from './support/postgres-proxy.js';
import { QueryPlans } from './support/query-plans.js';
import { TestService } from './support/service.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const FROM_DATABASE = [
  'bgc_messages_pending',
  'bgc_targets_undelivered',
  'bgc_undelivered_oldest_seconds',
];

describe('the figures', () => {
  let database: TestDatabase;
  let proxy: PostgresProxy;
  let upstream: McpTestServer;
  let service: TestService;
  const figures = (): Promise<Figures> => scrape(service.url);
  const figure = async (name: string): Promise<number | undefined> => (await figures()).get(name);

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await PostgresProxy.start(database.url);
    upstream = await McpTestServer.start();
    service = await TestService.start({ database: { ...database, url: proxy.url } });
    await service.register('test', upstream.url);
  });

  afterAll(async () => {
    await service.stop();
    await upstream.stop();
    await proxy.stop();
    await database.drop();
  });

  it('are text for everybody, with those of the process and its pool', async () => {
    const answer = await new Api(service.url, undefined).get('/metrics');
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const now = await figures();
    expect(now.get('bgc_database_up')).toBe(1);
    expect(now.get('bgc_database_connections{state="idle"}')).toBeGreaterThan(0);
    expect(now.get('bgc_database_waiting')).toBe(0);
    for (const name of ['process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds'])
      expect(now.get(name)).toBeGreaterThan(0);
  });

  it('follow a call from its handover to the acknowledgement of its message', async () => {
    const engine = service.session();
    const before = await figures();
    const auto = { background: { autoAfterSec: 0.05 } };
    const moved = await engine.call('gate', { name: 'one' }, auto);
    const running = await figures();
    expect(running.get('bgc_calls_running')).toBe(1);
    expect(growth(before, running)).toMatchObject({
      'bgc_tool_calls_total{outcome="background"}': 1,
      'bgc_foreground_duration_seconds_count{outcome="background"}': 1,
      'bgc_handovers_total{reason="auto"}': 1,
    });
    upstream.release('one');
    const [message] = await engine.messages(10);
    const handedOut = growth(running, await figures());
    expect(handedOut).toMatchObject({
      bgc_calls_running: -1,
      'bgc_calls_ended_total{status="completed",code="none"}': 1,
      'bgc_call_duration_seconds_count{status="completed"}': 1,
      'bgc_call_duration_seconds_bucket{le="86400",status="completed"}': 1,
      'bgc_delivery_lag_seconds_count{until="handed_out"}': 1,
    });
    expect(handedOut).not.toHaveProperty(['bgc_delivery_lag_seconds_count{until="acknowledged"}']);
    expect(message.notifications).toMatchObject([{ callId: moved.body.call.id }]);
    const unacknowledged = await figures();
    await engine.ack(message.id);
    await engine.ack(message.id);
    expect(growth(unacknowledged, await figures())).toMatchObject({
      'bgc_delivery_lag_seconds_count{until="acknowledged"}': 1,
    });
  });

  it('tell ends apart by status and code, and handovers by their reason', async () => {
    const engine = service.session();
    const before = await figures();
    const failed = await engine.callInBackground('fail', {});
    const cancelled = await engine.callInBackground('gate', { name: 'never' });
    await engine.cancel(cancelled.id);
    await engine.receive([failed.id, cancelled.id]);
    const grown = growth(before, await figures());
    expect(grown).toMatchObject({
      'bgc_handovers_total{reason="always"}': 2,
      'bgc_calls_ended_total{status="failed",code="tool_error"}': 1,
      'bgc_calls_ended_total{status="cancelled",code="none"}': 1,
    });
    expect(grown).not.toHaveProperty(['bgc_calls_ended_total{status="completed",code="none"}']);
  });

  it('count what callers were answered, refusals by their code, without any text of theirs', async () => {
    const engine = service.session();
    const before = await figures();
    await engine.call('echo', { secret: 'brought-in' });
    await engine.call('brought-in', {}, { server: 'brought-in' });
    const grown = growth(before, await figures());
    expect(grown).toMatchObject({
      'bgc_tool_calls_total{outcome="completed"}': 1,
      'bgc_tool_calls_total{outcome="server_not_found"}': 1,
      'bgc_foreground_duration_seconds_count{outcome="completed"}': 1,
      'bgc_foreground_duration_seconds_count{outcome="problem"}': 1,
    });
    const { text } = await new Api(service.url, undefined).get('/metrics');
    expect(text).not.toContain('brought-in');
    expect(text).not.toContain(engine.sessionId);
  });

  it('tell which enabled servers are reachable, and forget those that are gone', async () => {
    const gone = await McpTestServer.start();
    const id = await service.register('passing', gone.url);
    await gone.stop();
    await service.session().call('echo', {}, { server: 'passing' });
    await service.session().call('echo', {});
    const isSeen = async (): Promise<boolean> => {
      const now = await figures();
      return (
        now.get('bgc_upstream_reachable{server="passing"}') === 0 &&
        now.get('bgc_upstream_reachable{server="test"}') === 1
      );
    };
    await eventually('both are seen', isSeen);
    await service.admin.patch(`/admin/v1/mcp-servers/${id}`, { enabled: false });
    const isForgotten = async (): Promise<boolean> =>
      (await figure('bgc_upstream_reachable{server="passing"}')) === undefined;
    await eventually('it is forgotten', isForgotten);
  });

  it('show what waits to be delivered, read by indexes alone', async () => {
    const engine = service.session();
    const call = await engine.callInBackground('echo', {});
    await engine.get(call.id, 10);
    const waits = async (): Promise<boolean> => (await figure('bgc_targets_undelivered')) === 1;
    await eventually('it is seen', waits, 15_000);
    const [message] = await engine.messages(10);
    const isOut = async (): Promise<boolean> => (await figure('bgc_messages_pending')) === 1;
    await eventually('it is seen', isOut, 15_000);
    await engine.ack(message.id);
    const plans = await QueryPlans.open(database.url);
    const plan = await plans.of((tx) => new BacklogRepository().count(tx));
    await plans.close();
    expect(plan).not.toContain('Seq Scan');
  });

  it('are there while the database is away, and say so', async () => {
    proxy.cut();
    await eventually('it is seen', async () => (await figure('bgc_database_up')) === 0, 15_000);
    const begun = performance.now();
    const away = await figures();
    expect(performance.now() - begun).toBeLessThan(2_000);
    await eventually('no old figure is shown', async () => {
      const now = await figures();
      return FROM_DATABASE.every((name) => !now.has(name));
    });
    expect(away.has('bgc_calls_running')).toBe(true);
    proxy.restore();
    const isBack = async (): Promise<boolean> => {
      const read = await figures();
      return read.get('bgc_database_up') === 1 && read.has('bgc_messages_pending');
    };
    await eventually('it is back', isBack, 15_000);
  });
});
