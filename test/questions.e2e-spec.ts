import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { TestService } from './support/service.js';
import { StdioUpstream } from './support/stdio-upstream.js';

const SCHEMA = {
  type: 'object',
  properties: {
    sure: { type: 'boolean' },
    count: { type: 'integer' },
    note: { type: 'string' },
    more: { type: ['string', 'null'] },
  },
  required: ['sure'],
};
const FALSY = { sure: false, count: 0, note: '', more: null };
const QUESTION = { params: { message: 'Sure?', requestedSchema: SCHEMA } };
const ALWAYS = { background: { mode: 'always' } };
const NEVER = { background: { mode: 'never' } };

/** What it asks is what the service asks for as long as it is shown. */
async function inputRequestOf(engine: Engine, id: string): Promise<any> {
  return eventually('it needs input', async () => {
    const call = await engine.get(id);
    return call.status === 'input_required' && call.inputRequest;
  });
}

let service: TestService;
let engine: Engine;

beforeAll(async () => {
  service = await TestService.start({ env: { BGC_STDIO_COMMANDS: process.execPath } });
});
beforeEach(() => {
  engine = service.session();
});
afterAll(() => service?.stop());

async function register(registration: object): Promise<string> {
  const { status, text, body } = await service.admin.post('/admin/v1/mcp-servers', {
    title: 'Test',
    ...registration,
  });
  expect([status, text]).toEqual([201, expect.anything()]);
  return body.id as string;
}

describe.each([
  ['http', 'session'],
  ['http', 'call'],
  ['stdio', 'session'],
  ['stdio', 'call'],
] as const)('a tool that asks over %s, with a connection for each %s,', (transport, sharing) => {
  const name = `${transport}-${sharing}`;
  const here = { server: name };
  let web: McpTestServer;
  let program: StdioUpstream;
  let ids: string[];

  beforeAll(async () => {
    web = await McpTestServer.start();
    program = new StdioUpstream();
    const { command, args } = program.server();
    const place = transport === 'http' ? { url: web.url } : { command, args };
    await register({ name, transport, sharing, ...place });
  });
  beforeEach(() => {
    ids = [];
  });
  afterEach(async () => {
    for (const id of ids) await engine.cancel(id);
  });
  afterAll(async () => {
    await web.stop();
    program.kill();
    program.remove();
  });

  async function ask(more: object = {}): Promise<{ id: string; body: any }> {
    const answer = await engine.call('ask', QUESTION, { ...here, ...more });
    expect(answer).toMatchObject({ status: 202, body: { outcome: 'background' } });
    const { id } = answer.body.call as { id: string };
    ids.push(id);
    return { id, body: answer.body };
  }

  async function resultOf(id: string): Promise<any> {
    expect(await engine.get(id, 10)).toMatchObject({ status: 'completed', inputRequest: null });
    return (await service.agent.get(`/v1/background-calls/${id}/result`)).body;
  }

  const callsOfAsk = (): number =>
    transport === 'http'
      ? web.calls.filter(({ tool }) => tool === 'ask').length
      : program.received('tools/call').filter(({ params }) => params?.name === 'ask').length;

  it('moves its call, is told the answer exactly as it was given, and was called once', async () => {
    const before = callsOfAsk();
    const { id, body } = await ask({ turnId: 'turn-1' });
    expect(body).toMatchObject({ call: { handover: 'input_required' } });
    expect(body.result.content[0].text).toContain('它需要输入');
    expect(await inputRequestOf(engine, id)).toMatchObject({ message: 'Sure?', schema: SCHEMA });
    await engine.endTurn('turn-1');
    const [message] = await engine.receive([id]);
    expect(message).toMatchObject({ kind: 'background_call.input_required' });
    expect(message.text).toContain('Sure?');
    const wrong = await engine.answer(id, { action: 'accept', content: { sure: 'no' } });
    expect(wrong.body.errors).toEqual([{ pointer: '/content/sure', detail: 'must be boolean' }]);
    const right = await engine.answer(id, { action: 'accept', content: FALSY });
    expect(right).toMatchObject({ status: 200, body: { status: 'running', inputRequest: null } });
    const answered = { action: 'accept', content: FALSY };
    expect(await resultOf(id)).toEqual({ content: [], structuredContent: answered });
    expect(await engine.receive([id])).toMatchObject([{ kind: 'background_call.result' }]);
    expect(callsOfAsk()).toBe(before + 1);
  });

  it.each(['decline', 'cancel'])('is told that the user says %s', async (action) => {
    const { id } = await ask(ALWAYS);
    await inputRequestOf(engine, id);
    await engine.answer(id, { action });
    expect(await resultOf(id)).toMatchObject({ structuredContent: { action } });
  });

  it('is cancelled while it waits, and its server hears of it', async () => {
    const { id } = await ask(ALWAYS);
    await inputRequestOf(engine, id);
    const cancelled = (): number =>
      transport === 'http'
        ? web.cancelled.length
        : program.received('notifications/cancelled').length;
    const before = cancelled();
    expect((await engine.cancel(id)).status).toBe(202);
    expect(await engine.get(id, 10)).toMatchObject({ status: 'cancelled', inputRequest: null });
    expect(await engine.answer(id, { action: 'decline' })).toMatchObject({ status: 409 });
    await eventually('its server was told', () => cancelled() > before);
  });

  it('fails at the deadline when nobody answers', async () => {
    const { id } = await ask({ background: { mode: 'always', maxHours: 0.5 / 3_600 } });
    expect(await engine.get(id, 10)).toMatchObject({
      status: 'failed',
      error: { code: 'timeout' },
      inputRequest: null,
    });
  });

  it('goes on without the user where its call may not move', async () => {
    const answer = await engine.call('ask', QUESTION, { ...here, ...NEVER });
    const { outcome, result } = answer.body;
    expect({ outcome, result }).toMatchObject({
      outcome: 'completed',
      result: { structuredContent: { action: 'cancel' } },
    });
  });

  it.each(['sampling/createMessage', 'roots/list'])('gets a clear no to %s', async (method) => {
    const { body } = await engine.call('ask', { method }, here);
    expect(body).toMatchObject({ outcome: 'completed', result: { isError: true } });
    const [{ text }] = body.result.content;
    expect(text).toContain(`-32601: This client does not offer ${method}`);
  });
});
