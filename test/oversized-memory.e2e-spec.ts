import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LongArguments, LongAnswers } from './support/long-answers.js';
import { McpTestServer } from './support/mcp-server.js';
import { ServiceProcess } from './support/service-process.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const MAX_BYTES = 10_000_000;
const HUGE = 100_000_000;
const SAMPLE_MS = 5;
/** An upper bound for a machine that is busy: idle it is below 100 ms. */
const MAX_STALL_MS = 2_000;

describe('100 MB in answer to a call that may have 10 MB', () => {
  const answers = new LongAnswers();
  let upstream: McpTestServer;
  let database: TestDatabase;
  let service: ServiceProcess;

  beforeAll(async () => {
    upstream = await McpTestServer.start({ intercept: answers.intercept });
    database = await createTestDatabase();
    service = await ServiceProcess.start({ DATABASE_URL: database.url });
    await service.register('test', upstream.url);
    await service.settings({ results: { maxBytes: MAX_BYTES } });
    await inForeground({ as: 'events', bytes: MAX_BYTES / 2 });
    await inBackground({ as: 'json', bytes: MAX_BYTES / 2 });
  });

  afterAll(async () => {
    await service.end('SIGKILL');
    await upstream.stop();
    await database.drop();
  });

  const inForeground = async (args: LongArguments): Promise<string> =>
    (await service.session('s').call('long', args)).body.code as string;

  async function inBackground(args: LongArguments): Promise<string> {
    const engine = service.session('s');
    const { id } = await engine.callInBackground('long', args);
    return (await engine.get(id, 30)).error?.code as string;
  }

  it.each<[string, LongArguments['as'], typeof inForeground]>([
    ['a body, in the foreground', 'json', inForeground],
    ['an event, in the foreground', 'events', inForeground],
    ['a body, in the background', 'json', inBackground],
    ['an event, in the background', 'events', inBackground],
  ])('take no more than three times that, and nobody waits: %s', async (_, as, call) => {
    answers.written.length = 0;
    const use = new ProcessUse(service);
    const [code] = await Promise.all([
      call({ as, bytes: HUGE }).finally(() => use.stop()),
      use.watch(),
    ]);
    expect(code).toBe('output_limit');
    expect(use.riseBytes).toBeLessThan(3 * MAX_BYTES);
    expect(use.longestStallMs).toBeLessThan(MAX_STALL_MS);
    await upstream.until(() => answers.written.length === 1);
    expect(answers.written[0]).toBeLessThan(3 * MAX_BYTES);
  });
});

/** How much memory a process comes to use, and how long it lets others wait. */
class ProcessUse {
  riseBytes = 0;
  longestStallMs = 0;
  private isOver = false;
  private readonly before: number;

  constructor(private readonly service: ServiceProcess) {
    this.before = this.residentBytes();
  }

  async watch(): Promise<void> {
    const sampling = setInterval(() => this.sample(), SAMPLE_MS);
    while (!this.isOver) {
      const begunAtMs = performance.now();
      await this.service.agent.get('/healthz');
      this.longestStallMs = Math.max(this.longestStallMs, performance.now() - begunAtMs);
      await sleep(1);
    }
    clearInterval(sampling);
  }

  stop(): void {
    this.sample();
    this.isOver = true;
  }

  private sample(): void {
    this.riseBytes = Math.max(this.riseBytes, this.residentBytes() - this.before);
  }

  private residentBytes(): number {
    const status = readFileSync(`/proc/${this.service.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1_024;
  }
}
