import { afterAll, beforeAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import type { McpServer, Sharing } from '../src/upstreams/mcp-server.js';
import type {
  QuestionAnswer,
  UpstreamCall,
  UpstreamQuestion,
} from '../src/upstreams/upstream-call.js';
import type { UpstreamPool } from '../src/upstreams/upstream-pool.js';
import { eventually } from './support/eventually.js';
import { HttpTee } from './support/http-tee.js';
import { McpTestServer } from './support/mcp-server.js';
import { StdioUpstream } from './support/stdio-upstream.js';
import { aListener, aToolRequest } from './support/upstream-call.js';
import { aPool, aServer, LOOPBACK } from './support/upstream-pool.js';

const schema = { type: 'object', properties: { name: { type: 'string' } } };
const question = (message: string): object => ({ params: { message, requestedSchema: schema } });
const WHO = question('Who?');

let http: OutboundHttp;
let pool: UpstreamPool;
let web: McpTestServer;
let program: StdioUpstream;

beforeAll(async () => {
  web = await McpTestServer.start();
});

beforeEach(() => {
  http = new OutboundHttp(LOOPBACK);
  pool = aPool(http);
  program = new StdioUpstream();
});

afterEach(async () => {
  await pool.onApplicationShutdown();
  await http.onApplicationShutdown();
  await program.untilGone();
  program.remove();
});

afterAll(() => web.stop());

const TRANSPORTS: [string, (sharing: Sharing) => McpServer][] = [
  ['over HTTP', (sharing): McpServer => aServer({ url: web.url, sharing })],
  ['over stdio', (sharing): McpServer => program.server('well', { sharing })],
];

/** Answers by hand; the questions that were put are kept. */
class User {
  readonly asked: UpstreamQuestion[] = [];
  answer: (answer: QuestionAnswer) => void = () => undefined;

  call(server: McpServer, tool: string, args: object = {}): UpstreamCall {
    const onQuestion = (one: UpstreamQuestion): Promise<QuestionAnswer> => {
      this.asked.push(one);
      return new Promise((resolve) => (this.answer = resolve));
    };
    const request = aToolRequest(tool, { ...args });
    return pool.call(server, request, aListener({ onQuestion }));
  }

  async untilAsked(): Promise<void> {
    await eventually('it was asked', () => this.asked.length > 0);
  }
}

/** What servers were answered so far. */
const responses = (isHttp: boolean): number => {
  const methods = isHttp
    ? web.methods
    : program
        .entries()
        .flatMap((one) => (one.event === 'message' ? [String(one.message.method)] : []));
  return methods.filter((method) => method === 'undefined').length;
};

const resultOf = async (call: UpstreamCall): Promise<any> => {
  const outcome = await call.outcome;
  return outcome.kind === 'result' ? outcome.result : outcome;
};

describe.each(TRANSPORTS)('a server %s', (transport, server) => {
  const isHttp = transport === 'over HTTP';

  it.each(['session', 'call'] as const)(
    'with its own %s may ask the user of a call',
    async (sharing) => {
      const user = new User();
      const call = user.call(server(sharing), 'ask', WHO);
      await user.untilAsked();
      expect(user.asked).toMatchObject([{ message: 'Who?', schema }]);
      user.answer({ action: 'accept', content: { name: 'Ada' } });
      expect((await resultOf(call)).structuredContent).toEqual({
        action: 'accept',
        content: { name: 'Ada' },
      });
      const offered = await resultOf(user.call(server(sharing), 'capabilities'));
      expect(offered.structuredContent).toEqual({ elicitation: { form: {} } });
    },
  );

  it('may take its question back, also its first one, and is answered nothing then', async () => {
    const user = new User();
    const before = responses(isHttp);
    for (const nth of [0, 1]) {
      const call = user.call(server('session'), 'ask', { ...WHO, timeout: 100 });
      const { isError, content } = await resultOf(call);
      expect([isError, content[0].text]).toEqual([true, expect.stringContaining('timed out')]);
      await eventually('it is withdrawn', () => user.asked[nth]?.withdrawn?.aborted);
    }
    user.answer({ action: 'decline' });
    expect((await resultOf(user.call(server('session'), 'echo'))).isError).toBeUndefined();
    expect(responses(isHttp)).toBe(before);
  });

  it('that all calls share is told that nobody can be asked', async () => {
    const offered = await resultOf(new User().call(server('shared'), 'capabilities'));
    expect(offered.structuredContent).toEqual({});
  });

  it.each(['sampling/createMessage', 'roots/list'])('gets a clear no to %s', async (method) => {
    const result = await resultOf(new User().call(server('call'), 'ask', { method }));
    expect(result).toMatchObject({ isError: true });
    expect(result.content[0].text).toContain(`-32601: This client does not offer ${method}`);
  });

  it('gets no answer to a question without a form', async () => {
    const params = { mode: 'url', url: 'https://x', message: 'm', elicitationId: '1' };
    const result = await resultOf(new User().call(server('call'), 'ask', { params }));
    expect(result.content[0].text).toContain('-32602');
  });

  it('gets each answer for the call that it asked, when each call has its own connection', async () => {
    const users = [new User(), new User(), new User()];
    const calls = users.map((user, n) => user.call(server('call'), 'ask', question(`${n}?`)));
    await Promise.all(users.map((user) => user.untilAsked()));
    users.forEach((user, n) => user.answer({ action: 'accept', content: { name: `${n}` } }));
    for (const [n, user] of users.entries()) {
      expect(user.asked.map(({ message }) => message)).toEqual([`${n}?`]);
      const { structuredContent } = await resultOf(calls[n]!);
      expect(structuredContent).toEqual({ action: 'accept', content: { name: `${n}` } });
    }
  });

  it(`${isHttp ? 'asks the right one' : 'is refused'} of several calls of one session`, async () => {
    const [first, second] = [new User(), new User()];
    const waiting = first.call(server('session'), 'ask', question('first?'));
    await first.untilAsked();
    const call = second.call(server('session'), 'ask', question('second?'));
    if (isHttp) {
      await second.untilAsked();
      second.answer({ action: 'decline' });
      expect((await resultOf(call)).structuredContent).toEqual({ action: 'decline' });
    } else {
      const { content } = await resultOf(call);
      expect(content[0].text).toMatch(/-32600: Several calls run .*"sharing": "call"/);
      expect(second.asked).toEqual([]);
    }
    first.answer({ action: 'cancel' });
    expect((await resultOf(waiting)).structuredContent).toEqual({ action: 'cancel' });
  });

  it('may go on with other calls after one was cancelled that it had asked', async () => {
    const user = new User();
    const call = user.call(server('session'), 'ask', WHO);
    await user.untilAsked();
    await call.cancel('enough');
    const next = new User();
    const other = next.call(server('session'), 'ask', WHO);
    await next.untilAsked();
    user.answer({ action: 'accept', content: { name: 'too late' } });
    next.answer({ action: 'accept', content: { name: 'in time' } });
    expect((await resultOf(other)).structuredContent.content).toEqual({ name: 'in time' });
  });
});

describe('a question whose call has ended', () => {
  it('is answered as cancelled', async () => {
    const user = new User();
    const call = user.call(program.server('well', { sharing: 'session' }), 'leave', WHO);
    expect(await call.outcome).toMatchObject({ kind: 'result' });
    expect(user.asked).toHaveLength(1);
    expect(user.asked[0]?.withdrawn?.aborted).toBe(false);
    await eventually('it is answered', () =>
      JSON.stringify(program.entries()).includes('"result":{"action":"cancel"}'),
    );
  });
});

describe('an answer that a server over HTTP does not take', () => {
  const ADA = { action: 'accept', content: { name: 'Ada' } } as const;
  let tee: HttpTee;

  beforeEach(async () => {
    tee = await HttpTee.start(web.url);
  });
  afterEach(() => tee.stop());

  /** How the call ended, and how often the answer was sent. `spoil`: what becomes of it the nth time. */
  async function answered(spoil: (times: number) => number | undefined): Promise<object> {
    let times = 0;
    tee.spoil = (body) => (body.includes('"Ada"') ? spoil(++times) : undefined);
    const user = new User();
    const call = user.call(aServer({ url: tee.url, sharing: 'call' }), 'ask', WHO);
    await user.untilAsked();
    user.answer(ADA);
    const result: object = await resultOf(call);
    return { ...result, times };
  }

  it('at once is sent again, and the call goes on', async () => {
    expect(await answered((times) => [0, 503][times - 1])).toMatchObject({
      times: 3,
      structuredContent: ADA,
    });
  });

  it.each([
    ['ever', 503, 5],
    ['and refuses', 404, 1],
  ])('%s ends its call as lost', async (_, status, times) => {
    expect(await answered(() => status)).toMatchObject({
      times,
      outcomeUnknown: true,
      code: 'upstream_lost',
      message: expect.stringContaining('its question'),
    });
  });
});
