import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { EVERYTHING, httpServer, type RealServer, stdioServer } from './support/real-server.js';
import { TestService } from './support/service.js';
import { TestTasks } from './support/test-tasks.js';

const RESEARCH = 'simulate-research-query';
const RESULT = { content: [{ type: 'text' as const, text: 'researched' }] };
const SCHEMA = {
  type: 'object',
  properties: { sure: { type: 'boolean' }, count: { type: 'integer' }, note: { type: 'string' } },
  required: ['sure'],
};
const FALSY = { sure: false, count: 0, note: '' };

/** What the call asks for as long as that is shown. */
async function inputRequestOf(engine: Engine, id: string): Promise<any> {
  return eventually('it needs input', async () => {
    const call = await engine.get(id);
    return call.status === 'input_required' && call.inputRequest;
  });
}

describe.each([
  ['Streamable HTTP', 'session', (): Promise<RealServer> => httpServer('http')],
  ['Streamable HTTP', 'call', (): Promise<RealServer> => httpServer('http')],
  ['stdio', 'session', (): RealServer => stdioServer(EVERYTHING)],
])('an ambiguous research of server-everything over %s, by %s', (_, sharing, start) => {
  let server: RealServer;
  let service: TestService;
  let engine: Engine;
  let called: number;

  beforeAll(async () => {
    server = await start();
    service = await TestService.start({ env: { BGC_STDIO_COMMANDS: process.execPath } });
    const registration = { name: 'test', title: 'Research', sharing, ...server.registration };
    await service.admin.post('/admin/v1/mcp-servers', registration);
  });
  beforeEach(() => {
    engine = service.session();
    called = server.toolCalls().length;
  });
  afterAll(async () => {
    await service?.stop();
    await server.stop();
  });

  async function reportOf(id: string): Promise<string> {
    expect(await engine.get(id, 20)).toMatchObject({ status: 'completed', inputRequest: null });
    const { body } = await service.agent.get(`/v1/background-calls/${id}/result`);
    expect(server.toolCalls().slice(called)).toEqual([RESEARCH]);
    return body.content[0].text as string;
  }

  it('moves, tells its choices in a message, takes one of them and reports about that', async () => {
    const args = { topic: 'python', ambiguous: true };
    const answer = await engine.call(RESEARCH, args, { turnId: 'turn-1' });
    expect(answer).toMatchObject({
      status: 202,
      body: { outcome: 'background', call: { handover: 'input_required' } },
    });
    const { id } = answer.body.call as { id: string };
    const { message, schema } = await inputRequestOf(engine, id);
    expect(message).toContain('"python" could have multiple interpretations');
    const choices = schema.properties.interpretation.oneOf as { const: string; title: string }[];
    expect(choices.map((choice) => choice.const)).toEqual(['programming', 'snake', 'comedy']);

    await engine.endTurn('turn-1');
    const [question] = await engine.receive([id]);
    expect(question.kind).toBe('background_call.input_required');
    expect(question.text).toContain('【后台调用需要输入】Research · simulate-research-query');
    for (const choice of choices)
      expect(question.text).toContain(`"${choice.const}" (${choice.title})`);

    const wrong = await engine.answer(id, { action: 'accept', content: {} });
    expect(wrong.body.errors).toEqual([
      { pointer: '/content/interpretation', detail: 'is required' },
    ]);
    const content = { interpretation: 'snake' };
    const right = await engine.answer(id, { action: 'accept', content });
    expect(right).toMatchObject({ status: 200, body: { status: 'running' } });
    const report = await reportOf(id);
    expect(report).toContain('# Research Report: python (snake)');
    expect(report).toContain('- **Clarification**: snake');
    const [result] = await engine.receive([id]);
    expect(result.kind).toBe('background_call.result');
    expect(result.text).toContain('# Research Report: python (snake)');
  });

  it.each([
    ['decline', 'User declined - using default interpretation'],
    ['cancel', 'User cancelled - using default interpretation'],
  ])('is told that the user says %s', async (action, clarification) => {
    const { id } = await engine.callInBackground(RESEARCH, { topic: 'java', ambiguous: true });
    await inputRequestOf(engine, id);
    expect((await engine.answer(id, { action })).status).toBe(200);
    expect(await reportOf(id)).toContain(`# Research Report: java (${clarification})`);
  });
});

describe('a task that needs input', () => {
  let tasks: TestTasks;
  let upstream: McpTestServer;
  let service: TestService;
  let engine: Engine;

  beforeAll(async () => {
    tasks = new TestTasks();
    upstream = await McpTestServer.start({ tasks });
    service = await TestService.start();
    await service.register('test', upstream.url);
  });
  beforeEach(() => {
    engine = service.session();
  });
  afterAll(async () => {
    await service?.stop();
    await upstream.stop();
  });

  async function untilBegun<T>(calling: () => Promise<T>): Promise<{ called: Promise<T> }> {
    const begun = tasks.begun.length;
    const called = calling();
    await upstream.until(() => tasks.begun.length > begun);
    return { called };
  }

  async function begin(): Promise<string> {
    const { called } = await untilBegun(() => engine.callInBackground('research'));
    return (await called).id;
  }

  it('gets false, 0 and an empty text as they were given', async () => {
    const id = await begin();
    const asked = tasks.ask('Sure?', SCHEMA);
    await inputRequestOf(engine, id);
    await engine.answer(id, { action: 'accept', content: FALSY });
    expect(await asked).toMatchObject({ action: 'accept', content: FALSY });
    await tasks.end('completed', RESULT);
    expect(await engine.get(id, 20)).toMatchObject({ status: 'completed' });
  });

  it('may ask again, and is answered anew', async () => {
    const id = await begin();
    for (const sequence of [1, 2]) {
      const asked = tasks.ask(`Sure ${sequence}?`, SCHEMA);
      const inputRequest = await inputRequestOf(engine, id);
      expect(inputRequest).toMatchObject({ sequence, message: `Sure ${sequence}?` });
      await engine.answer(id, { action: 'decline', sequence });
      expect(await asked).toMatchObject({ action: 'decline' });
    }
    await tasks.end('completed', RESULT);
    expect(await engine.get(id, 20)).toMatchObject({ status: 'completed' });
  });

  it('runs on when its server goes on without the answer, and can be answered no more', async () => {
    const id = await begin();
    const asked = tasks.ask('Sure?', SCHEMA, 1_000);
    await inputRequestOf(engine, id);
    await expect(asked).rejects.toThrow('timed out');
    await tasks.say('without it, then');
    await eventually('it runs', async () => (await engine.get(id)).status === 'running');
    expect(await engine.answer(id, { action: 'decline' })).toMatchObject({
      status: 409,
      body: { code: 'input_not_required' },
    });
    await tasks.end('completed', RESULT);
    expect(await engine.get(id, 20)).toMatchObject({ status: 'completed' });
    expect(await engine.receive([id])).toMatchObject([{ kind: 'background_call.result' }]);
  });

  it('is told that nobody is asked when its call has no slot', async () => {
    await service.settings({ backgroundCalls: { maxPerTarget: 1 } });
    await engine.callInBackground('gate', { name: 'full' });
    const { called } = await untilBegun(() => engine.call('research'));
    expect(await tasks.ask('Sure?', SCHEMA)).toMatchObject({ action: 'cancel' });
    await tasks.end('completed', RESULT);
    expect(await called).toMatchObject({ status: 200, body: { outcome: 'completed' } });
    upstream.release('full');
    await service.settings({ backgroundCalls: { maxPerTarget: 100 } });
  });

  it('can be cancelled while it waits', async () => {
    const id = await begin();
    void tasks.ask('Sure?', SCHEMA).catch(() => undefined);
    await inputRequestOf(engine, id);
    expect((await engine.cancel(id)).status).toBe(202);
    expect(await engine.get(id, 10)).toMatchObject({ status: 'cancelled' });
    await eventually('the task is cancelled', async () => (await tasks.status()) === 'cancelled');
  });
});
