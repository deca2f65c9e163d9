import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestService } from './support/service.js';

const EVERYTHING = fileURLToPath(
  import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'),
);
const RESEARCH = 'simulate-research-query';
const REPORT = expect.stringContaining('# Research Report: cranes');

describe('A tool of the reference server that requires tasks, called by plain REST', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await TestService.start({ env: { BGC_STDIO_COMMANDS: process.execPath } });
    const program = { name: 'everything', transport: 'stdio', command: process.execPath };
    const args = [EVERYTHING, 'stdio'];
    await service.admin.post('/admin/v1/mcp-servers', { ...program, args });
  });
  afterAll(() => service?.stop());

  it.each(['never', 'auto'])('answers with mode %s as any other tool does', async (mode) => {
    const wish = { server: 'everything', background: { mode } };
    const answer = await service.session().call(RESEARCH, { topic: 'cranes' }, wish);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      outcome: 'completed',
      result: { content: [{ type: 'text', text: REPORT }] },
    });
  });

  it('shows its stages as progress in the background, and its report at the end', async () => {
    const wish = { server: 'everything', background: { mode: 'always' } };
    const answer = await service.session().call(RESEARCH, { topic: 'cranes' }, wish);
    expect(answer.status).toBe(202);
    const { id } = answer.body.call as { id: string };
    const path = `/v1/background-calls/${id}`;
    const running = await service.agent.get(`${path}?wait=2`);
    expect(running.body).toMatchObject({
      status: 'running',
      progress: { message: expect.stringMatching(/^(Gathering|Analyzing|Synthesizing)/) },
    });
    const ended = await service.agent.get(`${path}?wait=20`);
    expect(ended.body).toMatchObject({ status: 'completed' });
    expect((await service.agent.get(`${path}/result`)).body).toMatchObject({
      content: [{ type: 'text', text: REPORT }],
    });
  });
});
