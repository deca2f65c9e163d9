import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Engine } from './support/engine.js';
import { McpTestServer } from './support/mcp-server.js';
import type { Json } from './support/mcp-tools.js';
import { TestService } from './support/service.js';

const LONG_TEXT = '一行 "text" \\ with 😀\n'.repeat(10_000).slice(0, 163_125);

describe('results', () => {
  let workspaces: string;
  let upstream: McpTestServer;
  let service: TestService;
  let engine: Engine;

  beforeAll(async () => {
    workspaces = await mkdtemp(join(tmpdir(), 'bgc-workspaces-'));
    upstream = await McpTestServer.start();
    service = await TestService.start({ env: { BGC_WORKSPACES_DIR: workspaces } });
    await service.register('test', upstream.url);
  });

  afterAll(async () => {
    await service.stop();
    await upstream.stop();
    await rm(workspaces, { recursive: true });
  });

  beforeEach(() => {
    engine = service.session();
    upstream.calls.length = 0;
  });

  /** Runs a call that ends with this result. */
  async function endedWith(result: Json): Promise<any> {
    const { id } = await engine.callInBackground('gate', { name: 'result' });
    await upstream.untilCalled(upstream.calls.length || 1);
    upstream.release('result', result);
    return engine.get(id, 15);
  }

  function workspace(): string {
    return join(workspaces, 'default', 'sessions', engine.sessionId);
  }

  it('of 163,125 characters are told as a beginning, a size and a file that has it all', async () => {
    const call = await endedWith({ content: [{ type: 'text', text: LONG_TEXT }] });
    const file = `.agent/mcp/${call.id}.txt`;
    expect(call.result).toMatchObject({
      truncated: true,
      file,
      preview: LONG_TEXT.slice(0, 8_000),
    });
    const written = await readFile(join(workspace(), file));
    expect(written.equals(Buffer.from(LONG_TEXT))).toBe(true);
    const [message] = await engine.receive([call.id]);
    expect(message.notifications[0]).toMatchObject({ truncated: true, resultFile: file });
    expect(message.text).toContain(
      `以下只是开头；完整结果共 ${call.result.bytes} 字节，已存为工作区中的文件（路径相对于工作区）：\n` +
        `- ${file}（${written.byteLength} 字节）\n`,
    );
    const whole = await service.agent.get(`/v1/background-calls/${call.id}/result`);
    expect(whole.body.content[0].text).toBe(LONG_TEXT);
    expect(Buffer.byteLength(whole.text)).toBe(call.result.bytes);
    expect(await readdir(join(workspace(), '.agent/mcp'))).toEqual([`${call.id}.txt`]);
  });
});
