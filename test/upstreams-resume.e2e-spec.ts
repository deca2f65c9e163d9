import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import type {
  QuestionAnswer,
  UpstreamCall,
  UpstreamListener,
  UpstreamProgress,
  UpstreamQuestion,
  UpstreamReference,
} from '../src/upstreams/upstream-call.js';
import type { UpstreamPool } from '../src/upstreams/upstream-pool.js';
import { McpTestServer, type McpServerOptions } from './support/mcp-server.js';
import { textResult, type ToolHandler } from './support/mcp-tools.js';
import { OrderedEventStore } from './chaos/ordered-event-store.js';
import { TestTasks, type TestTasksOptions } from './support/test-tasks.js';
import { aListener, aToolRequest } from './support/upstream-call.js';
import { aPool, aServer, LOOPBACK, PoolFixture } from './support/upstream-pool.js';

const RESULT = { content: [{ type: 'text' as const, text: 'researched' }] };
const ANSWER = textResult('the answer');
const LONG_RESULT = { content: [{ type: 'text' as const, text: 'x'.repeat(100_000) }] };
const LOST = { kind: 'error', code: 'upstream_lost', outcomeUnknown: true };

/** A pool that begins a call, and another one, as of another process, that goes on with it. */
class ResumeFixture extends PoolFixture {
  readonly references: UpstreamReference[] = [];
  readonly secondHttp = new OutboundHttp(LOOPBACK);
  readonly second: UpstreamPool = aPool(this.secondHttp);
  readonly secondProgress: UpstreamProgress[] = [];
  /** Of the call that is gone on with. */
  maxResultBytes = 52_428_800;

  static async start(options: McpServerOptions): Promise<ResumeFixture> {
    return new ResumeFixture(await McpTestServer.start(options), new OutboundHttp(LOOPBACK));
  }

  get reference(): UpstreamReference {
    return this.references.at(-1)!;
  }

  begin(
    tool: string,
    args: Record<string, unknown> = {},
    listener: Partial<UpstreamListener> = {},
  ): UpstreamCall {
    const onReference = (one: UpstreamReference): void => void this.references.push(one);
    const all = aListener({ onReference, ...listener });
    return this.pool.call(this.server, aToolRequest(tool, args), all);
  }

  async untilReferences(count: number): Promise<void> {
    await this.upstream.until(() => this.references.length >= count);
  }

  /** The first process dies: its connections are cut, and the upstream is told nothing. */
  async dieFirst(): Promise<void> {
    await this.http.onApplicationShutdown();
    await this.pool.onApplicationShutdown();
    // What it had asked for is seen as gone.
    await this.upstream.until(() => this.upstream.openStreams('tools/call') === 0);
  }

  goOn(
    listener: Partial<UpstreamListener> = {},
    reference = this.reference,
    server = this.server,
  ): UpstreamCall {
    const onProgress = (one: UpstreamProgress): void => void this.secondProgress.push(one);
    const all = aListener({ onProgress, ...listener });
    return this.second.resume(server, reference, this.maxResultBytes, all);
  }

  override async close(): Promise<void> {
    await this.second.onApplicationShutdown();
    await this.secondHttp.onApplicationShutdown();
    await super.close();
  }
}

let fixture: ResumeFixture;
afterEach(() => fixture.close());

async function expectBeginning(call: UpstreamCall): Promise<void> {
  const outcome = await call.outcome;
  const [part] = outcome.kind === 'oversized' ? (outcome.kept().content as unknown[]) : [outcome];
  const text = expect.stringMatching(/^x{10000,}$/) as unknown;
  expect(part).toEqual({ type: 'text', text });
}

describe('A task of another process', () => {
  let tasks: TestTasks;
  const research = async (options: TestTasksOptions = {}): Promise<void> => {
    tasks = new TestTasks(options);
    fixture = await ResumeFixture.start({ tasks });
    const call = fixture.begin('research');
    await fixture.untilReferences(1);
    await fixture.dieFirst();
    expect(await call.outcome).toMatchObject(LOST);
    expect(await tasks.status()).toBe('working');
  };

  it('is gone on with in its session, with its progress, and is not begun again', async () => {
    await research();
    const call = fixture.goOn();
    await tasks.say('half of it');
    await fixture.upstream.until(() => fixture.secondProgress.length === 1);
    expect(fixture.secondProgress).toMatchObject([{ message: 'half of it' }]);
    await tasks.end('completed', RESULT);
    expect(await call.outcome).toMatchObject({ kind: 'result', result: RESULT });
    expect(tasks.begun).toHaveLength(1);
    expect(fixture.upstream).toMatchObject({ initializes: 1, deletes: 0 });
  });

  it('gives the result that came while nobody asked', async () => {
    await research();
    await tasks.end('completed', RESULT);
    expect(await fixture.goOn().outcome).toMatchObject({ kind: 'result', result: RESULT });
  });

  it('gives the beginning of a result that is too long', async () => {
    await research();
    await tasks.end('completed', LONG_RESULT);
    fixture.maxResultBytes = 1_000;
    await expectBeginning(fixture.goOn());
  });

  it('can be cancelled', async () => {
    await research();
    const call = fixture.goOn();
    await fixture.upstream.until(() => fixture.upstream.methods.includes('tasks/get'));
    await call.cancel('stop');
    expect(await tasks.status()).toBe('cancelled');
    expect(await call.outcome).toMatchObject({ kind: 'error' });
  });

  it('puts its questions to who goes on with it', async () => {
    await research();
    const call = fixture.goOn({ onQuestion: () => Promise.resolve({ action: 'decline' }) });
    await fixture.upstream.until(() => fixture.upstream.methods.includes('tasks/get'));
    expect(await tasks.ask('Why?', { type: 'object' })).toMatchObject({ action: 'decline' });
    await tasks.end('completed', RESULT);
    expect(await call.outcome).toMatchObject({ kind: 'result' });
  });

  it('is gone on with once more by a third process', async () => {
    await research();
    const left = fixture.goOn({ onReference: (one) => void fixture.references.push(one) });
    await fixture.untilReferences(2);
    left.detach();
    expect(await left.outcome).toMatchObject(LOST);
    expect(await tasks.status()).toBe('working');
    const call = fixture.goOn();
    await tasks.end('completed', RESULT);
    expect(await call.outcome).toMatchObject({ kind: 'result' });
    expect(tasks.begun).toHaveLength(1);
  });

  it('is lost when the upstream forgot it, or the session', async () => {
    await research();
    tasks.vanish();
    expect(await fixture.goOn().outcome).toMatchObject(LOST);
    await fixture.upstream.forgetSessions();
    expect(await fixture.goOn().outcome).toMatchObject(LOST);
    expect(tasks.begun).toHaveLength(1);
  });

  it('is lost when the server is registered at another address by now, which is not asked', async () => {
    await research();
    const other = await McpTestServer.start({ tasks: new TestTasks() });
    const moved = aServer({ url: other.url });
    expect(await fixture.goOn({}, fixture.reference, moved).outcome).toMatchObject({
      ...LOST,
      message: expect.stringContaining('its url is another one now'),
    });
    expect(other.headers).toEqual([]);
    await other.stop();
  });
});

describe('A stream of another process', () => {
  const beginGate = async (): Promise<void> => {
    fixture = await ResumeFixture.start({ eventStore: new InMemoryEventStore() });
    // So that its request is not the first one of the session.
    await fixture.begin('echo').outcome;
    fixture.references.length = 0;
    fixture.begin('gate', { name: 'x' });
    await fixture.untilReferences(1);
    await fixture.upstream.untilCalled(2);
    await fixture.dieFirst();
  };

  it('is gone on with, and the answer comes to who did not send the request', async () => {
    await beginGate();
    const call = fixture.goOn();
    await fixture.upstream.until(() => fixture.upstream.openStreams('GET') === 1);
    fixture.upstream.release('x', ANSWER);
    expect(await call.outcome).toEqual({ kind: 'result', result: ANSWER });
    expect(fixture.upstream.calls).toHaveLength(2);
    expect(fixture.upstream).toMatchObject({ initializes: 1, deletes: 0 });
  });

  it('gives the answer that came meanwhile', async () => {
    await beginGate();
    fixture.upstream.release('x', ANSWER);
    expect(await fixture.goOn().outcome).toEqual({ kind: 'result', result: ANSWER });
  });

  it('gives the beginning of an answer that is too long', async () => {
    await beginGate();
    fixture.upstream.release('x', LONG_RESULT);
    fixture.maxResultBytes = 1_000;
    await expectBeginning(fixture.goOn());
  });

  it('tells its references at most twice a second, and progress where it goes on', async () => {
    fixture = await ResumeFixture.start({ eventStore: new InMemoryEventStore() });
    fixture.begin('slow', { ms: 3_000, steps: 60 });
    await fixture.untilReferences(3);
    expect(new Set(fixture.references.map((one) => JSON.stringify(one))).size).toBe(3);
    await fixture.dieFirst();
    // 50 ms a step: three references tell of the first and at least 20 more of the events.
    expect(fixture.references.length).toBeLessThan(6);
    const call = fixture.goOn({ onReference: (one) => void fixture.references.push(one) });
    const known = fixture.references.length;
    expect(await call.outcome).toMatchObject({ kind: 'result' });
    expect(fixture.secondProgress.at(-1)).toMatchObject({ progress: 60, total: 60 });
    expect(fixture.references.length).toBeGreaterThan(known);
    expect(fixture.upstream.calls).toHaveLength(1);
  });

  it('tells the error with which the upstream answers', async () => {
    fixture = await ResumeFixture.start({
      eventStore: new InMemoryEventStore(),
      tools: {
        refuse: async (_args, { gate }) => {
          await gate('x');
          throw new Error('no such report');
        },
      },
    });
    fixture.begin('refuse');
    await fixture.untilReferences(1);
    await fixture.upstream.untilCalled(1);
    await fixture.dieFirst();
    fixture.upstream.release('x');
    expect(await fixture.goOn().outcome).toMatchObject({
      code: 'upstream_error',
      message: 'no such report',
    });
  });

  it('can be cancelled', async () => {
    await beginGate();
    const call = fixture.goOn();
    await fixture.upstream.until(() => fixture.upstream.openStreams('GET') === 1);
    await call.cancel('not needed');
    await fixture.upstream.until(() => fixture.upstream.aborted.length === 1);
    expect(fixture.upstream.cancelled).toMatchObject([{ reason: 'not needed' }]);
    expect(await call.outcome).toMatchObject({ kind: 'error' });
  });

  it('is lost when the upstream forgot the session, and the call is not sent again', async () => {
    await beginGate();
    await fixture.upstream.forgetSessions();
    expect(await fixture.goOn().outcome).toMatchObject(LOST);
    expect(fixture.upstream.calls).toHaveLength(2);
  });

  it('is lost when the upstream is gone', async () => {
    await beginGate();
    await fixture.upstream.stop();
    expect(await fixture.goOn().outcome).toMatchObject(LOST);
    fixture.upstream = await McpTestServer.start();
  });
});

describe('A stream of another process whose upstream asks', () => {
  const QUESTION: [string, Record<string, unknown>] = ['Which one?', { type: 'object' }];
  let eventStore: OrderedEventStore;
  const ACCEPTED = { action: 'accept', content: { one: 'the first' } } as const;
  /** By process: what it was asked. */
  const asked: Record<'first' | 'second' | 'third', string[]> = {
    first: [],
    second: [],
    third: [],
  };
  const keepsSilent =
    (who: keyof typeof asked) =>
    ({ message }: UpstreamQuestion): Promise<QuestionAnswer> => {
      asked[who].push(message);
      return new Promise(() => undefined);
    };
  const answers =
    (who: keyof typeof asked) =>
    ({ message }: UpstreamQuestion): Promise<QuestionAnswer> => {
      asked[who].push(message);
      return Promise.resolve(ACCEPTED);
    };

  beforeEach(async () => {
    for (const messages of Object.values(asked)) messages.length = 0;
    const inquire: ToolHandler = async (_args, { progress, ask, gate }) => {
      await gate('before');
      await progress(1);
      const answer = await ask(...QUESTION);
      await progress(2);
      await gate('after');
      return { content: [], structuredContent: answer };
    };
    eventStore = new OrderedEventStore();
    fixture = await ResumeFixture.start({ eventStore, tools: { inquire } });
  });

  /** The reference, which is told twice a second, says that the stream came to the latest progress. */
  const untilProgressIsLatest = (): Promise<void> =>
    fixture.upstream.until(() => {
      const { lastEventId } = fixture.reference as { lastEventId?: string };
      return lastEventId === eventStore.idOf.get('notifications/progress');
    });

  const begin = (onQuestion = keepsSilent('first')): void =>
    void fixture.begin('inquire', {}, { onQuestion });

  async function expectAnswered(call: UpstreamCall): Promise<void> {
    fixture.upstream.release('after');
    const result = { content: [], structuredContent: ACCEPTED };
    expect(await call.outcome).toEqual({ kind: 'result', result });
    expect(fixture.upstream.calls).toHaveLength(1);
    const answered = fixture.upstream.methods.filter((method) => method === 'undefined');
    expect(answered).toHaveLength(1);
  }

  it('is asked anew what the first process did not answer, and passes one answer on', async () => {
    fixture.upstream.release('before');
    begin();
    await fixture.upstream.until(() => asked.first.length === 1);
    await untilProgressIsLatest();
    await fixture.dieFirst();
    await expectAnswered(fixture.goOn({ onQuestion: answers('second') }));
    expect(asked).toMatchObject({ first: ['Which one?'], second: ['Which one?'] });
  });

  it('is asked what was asked while nobody was there', async () => {
    begin();
    await fixture.untilReferences(1);
    await fixture.upstream.untilCalled(1);
    await fixture.dieFirst();
    fixture.upstream.release('before');
    await expectAnswered(fixture.goOn({ onQuestion: answers('second') }));
    expect(asked).toMatchObject({ first: [], second: ['Which one?'] });
  });

  it('is asked by a third process what the second one did not answer either', async () => {
    fixture.upstream.release('before');
    begin();
    await fixture.upstream.until(() => asked.first.length === 1);
    await untilProgressIsLatest();
    await fixture.dieFirst();
    const onReference = (one: UpstreamReference): void => void fixture.references.push(one);
    const left = fixture.goOn({ onReference, onQuestion: keepsSilent('second') });
    await fixture.upstream.until(() => asked.second.length === 1);
    left.detach();
    await left.outcome;
    await fixture.upstream.until(() => fixture.upstream.openStreams('GET') === 0);
    await expectAnswered(fixture.goOn({ onQuestion: answers('third') }));
    expect(asked).toMatchObject({ second: ['Which one?'], third: ['Which one?'] });
  });

  it('is not asked what the first process has answered', async () => {
    begin(answers('first'));
    await fixture.untilReferences(1);
    fixture.upstream.release('before');
    await fixture.upstream.until(() => fixture.upstream.methods.includes('undefined'));
    await untilProgressIsLatest();
    await fixture.dieFirst();
    await expectAnswered(fixture.goOn({ onQuestion: answers('second') }));
    expect(asked).toMatchObject({ first: ['Which one?'], second: [] });
  });
});

describe('A call that can not be gone on with', () => {
  it('tells no reference', async () => {
    fixture = await ResumeFixture.start({});
    expect(await fixture.begin('slow', { ms: 300, steps: 3 }).outcome).toMatchObject({
      kind: 'result',
    });
    expect(fixture.references).toEqual([]);
  });
});
