import { afterEach, describe, expect, it } from '@jest/globals';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import type { Sharing } from '../src/upstreams/mcp-server.js';
import type {
  UpstreamCall,
  UpstreamListener,
  UpstreamOutcome,
  UpstreamQuestion,
  UpstreamReference,
} from '../src/upstreams/upstream-call.js';
import { eventually } from './support/eventually.js';
import { McpTestServer, type McpServerOptions } from './support/mcp-server.js';
import { MovedClock } from './support/moved-clock.js';
import { type ToolHandler, textResult } from './support/mcp-tools.js';
import { TestTasks, type TestTasksOptions } from './support/test-tasks.js';
import { aListener, aToolRequest } from './support/upstream-call.js';
import { aPool, LOOPBACK, PoolFixture, settingsOf } from './support/upstream-pool.js';

const RESULT = { content: [{ type: 'text' as const, text: 'researched' }] };
const WHY = { type: 'object', properties: { why: { type: 'string' } } };

class TaskFixture extends PoolFixture {
  readonly clock = new MovedClock();
  override readonly pool = aPool(this.http, settingsOf(), undefined, this.clock);
  readonly references: UpstreamReference[] = [];

  constructor(
    upstream: McpTestServer,
    readonly tasks: TestTasks,
  ) {
    super(upstream, new OutboundHttp(LOOPBACK));
  }

  static async start(
    tasks: TestTasksOptions = {},
    options: McpServerOptions = {},
  ): Promise<TaskFixture> {
    const some = new TestTasks(tasks);
    return new TaskFixture(await McpTestServer.start({ tasks: some, ...options }), some);
  }

  research(listener: Partial<UpstreamListener> = {}, tool = 'research'): UpstreamCall {
    return this.pool.call(
      this.server,
      { ...aToolRequest(tool), mayBeTask: tool !== 'research' },
      aListener({
        onProgress: (one) => void this.progress.push(one),
        onReference: (one) => void this.references.push(one),
        ...listener,
      }),
    );
  }

  async untilBegun(): Promise<void> {
    await this.upstream.until(() => this.tasks.begun.length === 1);
    await this.upstream.until(() => this.references.length === 1);
  }

  asked(method: string): number {
    return this.upstream.methods.filter((one) => one === method).length;
  }
}

let fixture: TaskFixture;
afterEach(() => fixture.close());

describe('A tool that requires tasks', () => {
  it('is run as one for a caller that knows nothing of them, and answers as any other', async () => {
    fixture = await TaskFixture.start();
    const call = fixture.research();
    await fixture.untilBegun();
    await fixture.tasks.end('completed', RESULT);
    const outcome = await call.outcome;
    expect(outcome).toMatchObject({ kind: 'result', result: RESULT });
    expect(fixture.tasks.begun).toEqual([604_800_000]);
    expect(fixture.upstream.calls).toHaveLength(1);
  });

  it('tells what another process needs before anything else of it', async () => {
    fixture = await TaskFixture.start();
    const told: string[] = [];
    const call = fixture.research({
      onReference: (one) => void (told.push('reference'), fixture.references.push(one)),
      onProgress: () => void told.push('progress'),
    });
    await fixture.untilBegun();
    expect(fixture.references).toEqual([
      {
        kind: 'task',
        url: fixture.upstream.url,
        sessionId: expect.any(String),
        protocolVersion: '2025-11-25',
        taskId: fixture.tasks.latest,
        ttlMs: 604_800_000,
      },
    ]);
    await fixture.tasks.say('reading');
    await fixture.upstream.until(() => told.length === 2);
    expect(told).toEqual(['reference', 'progress']);
    await fixture.tasks.end('completed', RESULT);
    await call.outcome;
  });

  it('shows each new status message as progress, once', async () => {
    fixture = await TaskFixture.start();
    const call = fixture.research();
    await fixture.untilBegun();
    for (const message of ['reading', 'writing']) {
      await fixture.tasks.say(message);
      await fixture.upstream.until(() => fixture.progress.at(-1)?.message === message);
    }
    await fixture.tasks.end('completed', RESULT);
    await call.outcome;
    expect(fixture.progress.map(({ message }) => message)).toEqual(['reading', 'writing']);
  });

  it('asks for the result only when the task has ended, and polls no more often than it shall', async () => {
    fixture = await TaskFixture.start({ pollInterval: 400 });
    const call = fixture.research();
    await fixture.untilBegun();
    await fixture.upstream.until(() => fixture.asked('tasks/get') === 3);
    expect(fixture.asked('tasks/result')).toBe(0);
    const began = performance.now();
    await fixture.upstream.until(() => fixture.asked('tasks/get') === 5);
    expect(performance.now() - began).toBeGreaterThan(600);
    await fixture.tasks.end('completed', RESULT);
    await call.outcome;
    expect(fixture.asked('tasks/result')).toBe(1);
  });
});

describe('A tool that offers tasks', () => {
  it('is run as one when the call may be, and plainly otherwise', async () => {
    const tools = { flexible: () => textResult('plain') };
    fixture = await TaskFixture.start({}, { tools, toolPages: [] });
    await fixture.upstream.changeTools([fixture.tasks.tools]);
    const request = { ...aToolRequest('flexible'), mayBeTask: false };
    const plain = await fixture.pool.call(fixture.server, request, aListener()).outcome;
    expect(plain).toMatchObject({ kind: 'result', result: textResult('plain') });
    expect(fixture.tasks.begun).toEqual([]);
    const call = fixture.research({}, 'flexible');
    await fixture.untilBegun();
    await fixture.tasks.end('completed', RESULT);
    expect(await call.outcome).toMatchObject({ kind: 'result', result: RESULT });
  });

  it('does not make tasks of the other tools of the server', async () => {
    fixture = await TaskFixture.start();
    expect(await fixture.call('echo', { a: 1 }).outcome).toMatchObject({ kind: 'result' });
    expect(fixture.tasks.begun).toEqual([]);
  });
});

describe('A task that does not go well', () => {
  it('gives the whole result of a tool that failed', async () => {
    fixture = await TaskFixture.start();
    const call = fixture.research();
    await fixture.untilBegun();
    const failed = { ...RESULT, isError: true, structuredContent: { at: 'step 3' } };
    await fixture.tasks.end('failed', failed);
    expect(await call.outcome).toMatchObject({ kind: 'result', result: failed });
  });

  it('tells the message of a task that failed without a result', async () => {
    fixture = await TaskFixture.start();
    const call = fixture.research();
    await fixture.untilBegun();
    await fixture.tasks.stop('failed', 'the library is closed');
    expect(await call.outcome).toMatchObject({
      code: 'upstream_error',
      message: expect.stringMatching(/^the library is closed \(.*no result/),
      outcomeUnknown: false,
    });
  });

  it('tells that the upstream cancelled it', async () => {
    fixture = await TaskFixture.start();
    const call = fixture.research();
    await fixture.untilBegun();
    await fixture.tasks.stop('cancelled', 'by an operator');
    expect(await call.outcome).toMatchObject({
      code: 'upstream_error',
      message: expect.stringContaining('cancelled the task: by an operator'),
    });
  });

  it('is lost, outcome unknown, when the upstream does not know it any more', async () => {
    fixture = await TaskFixture.start();
    const call = fixture.research();
    await fixture.untilBegun();
    fixture.tasks.vanish();
    expect(await call.outcome).toMatchObject({
      code: 'upstream_lost',
      message: expect.stringContaining('no longer knows the task'),
      outcomeUnknown: true,
    });
  });

  it('is lost when it was kept for too short a time, and the message names the time', async () => {
    fixture = await TaskFixture.start({ ttl: 300 });
    const call = fixture.research();
    expect(await call.outcome).toMatchObject({
      code: 'upstream_lost',
      message: expect.stringContaining('kept for 300 ms'),
      outcomeUnknown: true,
    });
    expect(fixture.references).toMatchObject([{ ttlMs: 300 }]);
  });

  it('is looked at often enough when it is kept for a short time', async () => {
    fixture = await TaskFixture.start({ ttl: 2_000, pollInterval: 30_000 });
    const call = fixture.research();
    await fixture.untilBegun();
    await fixture.tasks.end('completed', RESULT);
    expect(await call.outcome).toMatchObject({ kind: 'result', result: RESULT });
  });

  it('is lost when the upstream forgot the session, and is not begun again', async () => {
    fixture = await TaskFixture.start();
    const call = fixture.research();
    await fixture.untilBegun();
    await fixture.upstream.forgetSessions();
    expect(await call.outcome).toMatchObject({ code: 'upstream_lost', outcomeUnknown: true });
    expect(fixture.tasks.begun).toHaveLength(1);
  });
});

describe('An upstream that does not answer polls', () => {
  let failures = 0;
  const failing: McpServerOptions['intercept'] = (_request, response, body) => {
    if (failures === 0 || !body.includes('"tasks/')) return false;
    failures -= 1;
    if (failures % 2 === 0) response.writeHead(503).end('not now');
    else response.destroy();
    return true;
  };

  it('is asked again, and the task is not lost', async () => {
    fixture = await TaskFixture.start({}, { intercept: failing });
    failures = 3;
    const call = fixture.research();
    await fixture.untilBegun();
    await fixture.upstream.until(() => failures === 0);
    await fixture.tasks.end('completed', RESULT);
    expect(await call.outcome).toMatchObject({ kind: 'result' });
  });

  it('loses the task after a minute, and is told to cancel it', async () => {
    fixture = await TaskFixture.start({}, { intercept: failing });
    const call = fixture.research();
    await fixture.untilBegun();
    failures = 2;
    await fixture.upstream.until(() => failures === 1);
    fixture.clock.aheadMs = 60_000;
    expect(await call.outcome).toMatchObject({
      code: 'upstream_lost',
      message: expect.stringMatching(/could not be asked about for 6\d{4} ms/),
      outcomeUnknown: true,
    });
    expect(await fixture.tasks.status()).toBe('cancelled');
  });
});

describe('Cancelling a call that runs as a task', () => {
  it('cancels the task upstream, and resolves then', async () => {
    fixture = await TaskFixture.start();
    const call = fixture.research();
    await fixture.untilBegun();
    await call.cancel('not needed');
    expect(await fixture.tasks.status()).toBe('cancelled');
    expect(await call.outcome).toMatchObject({
      message: expect.stringContaining('not needed'),
      outcomeUnknown: true,
    });
    expect(fixture.asked('tasks/cancel')).toBe(1);
  });

  it('waits until it knows which task it is', async () => {
    let pass = (): void => undefined;
    const held = new Promise<void>((resolve) => (pass = resolve));
    fixture = await TaskFixture.start({}, { delayCalls: () => held });
    const call = fixture.research();
    await fixture.upstream.untilCalled(1);
    const cancelled = call.cancel('at once');
    pass();
    await cancelled;
    expect(await fixture.tasks.status()).toBe('cancelled');
  });

  it('does not wait long for an upstream that does not answer it', async () => {
    fixture = await TaskFixture.start(
      {},
      { intercept: (_request, _response, body) => body.includes('"tasks/cancel"') },
    );
    const call = fixture.research();
    await fixture.untilBegun();
    const began = performance.now();
    await call.cancel('stop');
    expect(performance.now() - began).toBeLessThan(5_000);
    await fixture.tasks.end('completed', RESULT);
    expect(await call.outcome).toMatchObject({ kind: 'error' });
  });
});

describe('A task that needs input', () => {
  it('puts the question to the caller, and goes on with the answer', async () => {
    fixture = await TaskFixture.start();
    const questions: UpstreamQuestion[] = [];
    const call = fixture.research({
      onQuestion: (question) => {
        questions.push(question);
        return Promise.resolve({ action: 'accept', content: { why: 'curiosity' } });
      },
    });
    await fixture.untilBegun();
    expect(await fixture.tasks.ask('Why?', WHY)).toMatchObject({
      action: 'accept',
      content: { why: 'curiosity' },
    });
    expect(questions).toMatchObject([{ message: 'Why?', schema: WHY }]);
    await fixture.tasks.end('completed', RESULT);
    expect(await call.outcome).toMatchObject({ kind: 'result', result: RESULT });
  });

  it('withdraws its question when it goes on without the answer, and no later one', async () => {
    fixture = await TaskFixture.start();
    const asked: UpstreamQuestion[] = [];
    const call = fixture.research({
      onQuestion: (question) => {
        asked.push(question);
        return new Promise(() => undefined);
      },
    });
    await fixture.untilBegun();
    for (const nth of [0, 1]) {
      const given = fixture.tasks.ask(`Why ${nth}?`, WHY, 500);
      await fixture.upstream.until(() => asked.length > nth);
      expect(asked.map(({ withdrawn }) => withdrawn?.aborted)).toEqual(
        [true, false].slice(1 - nth),
      );
      await expect(given).rejects.toThrow('timed out');
      expect(asked[nth]?.withdrawn?.aborted).toBe(false);
      await fixture.tasks.say('without it, then');
      await eventually('withdrawn', () => asked[nth]?.withdrawn?.aborted);
    }
    await fixture.tasks.end('completed', RESULT);
    expect(await call.outcome).toMatchObject({ kind: 'result', result: RESULT });
  });

  it('is polled on while the question is open, and can be cancelled', async () => {
    fixture = await TaskFixture.start();
    let isAsked = false;
    const call = fixture.research({
      onQuestion: () => new Promise(() => (isAsked = true)),
    });
    await fixture.untilBegun();
    fixture.tasks.ask('Why?', WHY).catch(() => undefined);
    await fixture.upstream.until(() => isAsked);
    const polls = fixture.asked('tasks/get');
    await fixture.upstream.until(() => fixture.asked('tasks/get') > polls + 2);
    await call.cancel('stop');
    expect(await fixture.tasks.status()).toBe('cancelled');
    await fixture.upstream.until(() => fixture.upstream.openStreams('tasks/result') === 0);
  });
});

describe('A plain call that asks the user something', () => {
  const asking: ToolHandler = async (_args, { ask }) => ({
    ...textResult('asked'),
    structuredContent: await ask('Why?', WHY),
  });
  const answerWith = async (sharing: Sharing): Promise<UpstreamOutcome> => {
    fixture = await TaskFixture.start({}, { tools: { asking } });
    const server = { ...fixture.server, sharing };
    const listener = aListener({
      onQuestion: ({ message }) =>
        Promise.resolve({ action: 'accept', content: { why: `because of ${message}` } }),
    });
    return fixture.pool.call(server, aToolRequest('asking'), listener).outcome;
  };

  it.each(['session', 'call'] as const)(
    'is answered on a connection of one %s, which tells that questions are taken',
    async (sharing) => {
      expect(await answerWith(sharing)).toMatchObject({
        result: { structuredContent: { action: 'accept', content: { why: 'because of Why?' } } },
      });
      expect(fixture.upstream.clientCapabilities).toContainEqual({ elicitation: {} });
    },
  );

  it('is not told on a connection of all that questions are taken', async () => {
    await answerWith('shared');
    expect(fixture.upstream.clientCapabilities).toEqual([{}]);
  });
});
