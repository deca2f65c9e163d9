import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { ApiResponse } from './support/api.js';
import { HealthProbe, percentile } from './support/health-probe.js';
import { McpTestServer } from './support/mcp-server.js';
import { textResult } from './support/mcp-tools.js';
import { COLLECTABLE, neededBytes, residentBytes } from './support/process-memory.js';
import { ServiceProcess } from './support/service-process.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const CALLS = 1_000;
const SESSIONS = 20;
const WARM_CALLS = 200;
const READERS = 20;
/** Most of it is what one request of the MCP SDK needs. Garbage comes on top, until it is collected. */
const MAX_KB_PER_CALL = 100;
/** Far above what is seen: the machine may be busy with other tests. */
const MAX_HEALTH_MS = 5_000;
const LONGEST_MS = 180_000;

const FOREGROUND = { background: { mode: 'never' } };
/** Every one of them moves at about the same moment. */
const MOVING = { background: { mode: 'auto', autoAfterSec: 1 } };

/** Callers and the upstream are here; the service, which is measured, is a process of its own. */
describe(`${CALLS} calls at once on one connection to an upstream`, () => {
  let upstream: McpTestServer;
  let database: TestDatabase;
  let service: ServiceProcess;

  beforeAll(async () => {
    upstream = await McpTestServer.start();
    database = await createTestDatabase();
    service = await ServiceProcess.start({ DATABASE_URL: database.url }, COLLECTABLE);
    await service.register('test', upstream.url);
    await service.settings({ backgroundCalls: { maxPerTarget: CALLS } });
    for (const how of [FOREGROUND, MOVING]) await answersOf(await stand(WARM_CALLS, how));
  }, LONGEST_MS);

  afterAll(async () => {
    await service?.end('SIGKILL');
    await upstream.stop();
    await database.drop();
  });

  it.each<[string, Record<string, unknown>]>([
    ['in the foreground', FOREGROUND],
    ['in the background', MOVING],
  ])(
    `are each answered with their own answer, and need no more than ${MAX_KB_PER_CALL} KB each: %s`,
    async (where, how) => {
      const before = await neededBytes(service);
      const probe = HealthProbe.start(service.url);
      const residentBefore = residentBytes(service.pid);
      const standing = await stand(CALLS, how);
      const perCall = ((await neededBytes(service)) - before) / CALLS / 1_024;
      // Garbage is no memory of a call: it has just been collected, before as well as now.
      const resident = (residentBytes(service.pid) - residentBefore) / CALLS / 1_024;
      const answers = await answersOf(standing);
      const healthMs = await probe.stop();

      expect(answers).toEqual(namesOf(CALLS).map((name) => `answer of ${name}`));
      expect(upstream.initializes).toBe(1);
      const [p50 = NaN, p99 = NaN] = [0.5, 0.99].map((share) => percentile(healthMs, share));
      process.stderr.write(
        `${CALLS} calls ${where}: ${perCall.toFixed(0)} KB each, ${resident.toFixed(0)} KB of the process; ` +
          `/healthz p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms\n`,
      );
      expect(perCall).toBeLessThanOrEqual(MAX_KB_PER_CALL);
      expect(resident).toBeLessThanOrEqual(MAX_KB_PER_CALL);
      expect(p99).toBeLessThan(MAX_HEALTH_MS);
    },
    LONGEST_MS,
  );

  it('reach the service at once, even while it is busy', async () => {
    const { hostname, port } = new URL(service.url);
    service.signal('SIGSTOP');
    const sockets = Array.from({ length: Math.min(CALLS, mostWaiting()) }, () =>
      connect(Number(port), hostname),
    );
    try {
      await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    } finally {
      service.signal('SIGCONT');
      for (const socket of sockets) socket.destroy();
    }
  });

  /** Begins so many calls at once; resolves when the upstream has got all, and those that move have moved. */
  async function stand(
    count: number,
    how: Record<string, unknown>,
  ): Promise<Promise<ApiResponse>[]> {
    upstream.forgetCalls();
    const calls = namesOf(count).map((name) =>
      service.session(sessionOf(name)).call('gate', { name }, how),
    );
    const failed = Promise.all(calls.map(refuseEarly)).then(() => new Promise<never>(ignore));
    const all = upstream.until(() => upstream.calls.length === count, LONGEST_MS);
    await Promise.race([failed, all]);
    if (how === MOVING) await Promise.all(calls);
    return calls;
  }

  /** Lets the upstream answer, the last call first; gives what each caller is told in the end. */
  async function answersOf(calls: Promise<ApiResponse>[]): Promise<string[]> {
    for (const name of namesOf(calls.length).reverse())
      upstream.release(name, textResult(`answer of ${name}`));
    const answers: string[] = [];
    const read = async (from: number): Promise<void> => {
      for (let n = from; n < calls.length; n += READERS) answers[n] = await answerOf(n);
    };
    const answerOf = async (n: number): Promise<string> => {
      const { status, body, text } = await calls[n]!;
      if (status === 200) return body.result.content[0].text as string;
      if (status !== 202) throw new Error(`no answer: ${status} ${text}`);
      const ended = await service.session('any').get(body.call.id as string, 60);
      return ended.result.preview as string;
    };
    await Promise.all(Array.from({ length: READERS }, (_, n) => read(n)));
    return answers;
  }
});

/** How many connections this system lets wait for any process. */
function mostWaiting(): number {
  const limit = '/proc/sys/net/core/somaxconn';
  return existsSync(limit) ? Number(readFileSync(limit, 'utf8')) : Infinity;
}

/** No call is answered while it stands, except by its handover. */
async function refuseEarly(call: Promise<ApiResponse>): Promise<void> {
  const { status, text } = await call;
  if (status !== 202) throw new Error(`answered already: ${status} ${text}`);
}

function ignore(): void {}

function namesOf(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `call-${n}`);
}

function sessionOf(name: string): string {
  return `session-${Number(name.split('-')[1]) % SESSIONS}`;
}
