import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import {
  EVERYTHING,
  FILESYSTEM,
  httpServer,
  type RealServer,
  stdioServer,
} from './support/real-server.js';
import { TestService } from './support/service.js';

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

let service: TestService;
let server: RealServer;
let serverId: string;
let engine: Engine;
let called: number;

function useServer(start: () => RealServer | Promise<RealServer>): void {
  beforeAll(async () => {
    server = await start();
    service = await TestService.start({ env: { BGC_STDIO_COMMANDS: process.execPath } });
    const registration = { name: 'test', title: 'Test', ...server.registration };
    const answer = await service.admin.post('/admin/v1/mcp-servers', registration);
    expect([answer.status, answer.text]).toEqual([201, expect.anything()]);
    serverId = answer.body.id as string;
  });
  beforeEach(() => {
    engine = service.session();
    called = server.toolCalls().length;
  });
  afterAll(async () => {
    await service.stop();
    await server.stop();
  });
}

/** Tools that the server was asked for since the test began. */
const asked = (): string[] => server.toolCalls().slice(called);

async function resultOf(tool: string, args: object = {}): Promise<any> {
  const answer = await engine.call(tool, args);
  expect(answer.body).toMatchObject({ outcome: 'completed' });
  expect(asked()).toEqual([tool]);
  return answer.body.result;
}

describe.each([
  ['Streamable HTTP', (): Promise<RealServer> => httpServer('http')],
  ['HTTP with SSE', (): Promise<RealServer> => httpServer('sse')],
  ['stdio', (): RealServer => stdioServer(EVERYTHING)],
])('server-everything over %s', (_, start) => {
  useServer(start);

  it('lists its tools', async () => {
    const answer = await service.admin.get(`/admin/v1/mcp-servers/${serverId}/tools`);
    const names = (answer.body.data as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['echo', 'get-tiny-image', 'trigger-long-running-operation']),
    );
  });

  it('answers with text', async () => {
    expect(await resultOf('echo', { message: '你好 ✓' })).toEqual({
      content: [{ type: 'text', text: 'Echo: 你好 ✓' }],
    });
  });

  it('answers with an image', async () => {
    const { content } = await resultOf('get-tiny-image');
    expect(content.map(({ type }: { type: string }) => type)).toEqual(['text', 'image', 'text']);
    expect(content[1].mimeType).toBe('image/png');
    expect(Buffer.from(content[1].data as string, 'base64').subarray(0, 4)).toEqual(PNG);
  });

  it('answers with annotations', async () => {
    const args = { messageType: 'error', includeImage: true };
    expect((await resultOf('get-annotated-message', args)).content).toMatchObject([
      { type: 'text', annotations: { priority: 1, audience: ['user', 'assistant'] } },
      { type: 'image', annotations: { priority: 0.5, audience: ['user'] } },
    ]);
  });

  it('answers with links to resources', async () => {
    const { content } = await resultOf('get-resource-links', { count: 3 });
    expect(content.slice(1)).toEqual(
      Array(3).fill(
        expect.objectContaining({
          type: 'resource_link',
          uri: expect.stringMatching(/^demo:\/\/resource/),
          mimeType: expect.any(String),
          description: expect.any(String),
        }),
      ),
    );
  });

  it('answers with an embedded resource', async () => {
    const args = { resourceType: 'Blob', resourceId: 2 };
    const { content } = await resultOf('get-resource-reference', args);
    expect(content[1]).toEqual({
      type: 'resource',
      resource: {
        uri: expect.stringContaining('/2'),
        mimeType: 'text/plain',
        blob: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
      },
    });
  });

  it('answers with structured content', async () => {
    const weather = { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 };
    expect(await resultOf('get-structured-content', { location: 'Chicago' })).toEqual({
      content: [{ type: 'text', text: JSON.stringify(weather) }],
      structuredContent: weather,
    });
  });

  it('says itself what is wrong with a call', async () => {
    const answer = await engine.call('get-sum', { a: 1, b: 'two' });
    expect(answer.body).toMatchObject({ outcome: 'completed', result: { isError: true } });
    expect(asked()).toEqual(['get-sum']);
  });

  it('works on in the background, asked once: progress, result and message are there', async () => {
    const args = { duration: 2, steps: 4 };
    const background = { autoAfterSec: 0.3 };
    const answer = await engine.call('trigger-long-running-operation', args, { background });
    expect(answer.status).toBe(202);
    const { id } = answer.body.call as { id: string };
    const ended = await engine.get(id, 30);
    expect(ended).toMatchObject({
      status: 'completed',
      handover: 'auto',
      progress: { progress: 4, total: 4 },
      result: { isError: false },
    });
    const text = 'Long running operation completed. Duration: 2 seconds, Steps: 4.';
    const result = await service.agent.get(`/v1/background-calls/${id}/result`);
    expect(result.body).toEqual({ content: [{ type: 'text', text }] });
    const [message] = await engine.receive([id]);
    expect(message.text).toContain(text);
    expect(message.notifications).toMatchObject([{ callId: id, status: 'completed' }]);
    expect(asked()).toEqual(['trigger-long-running-operation']);
  });

  it('is cancelled, though it does not care', async () => {
    const args = { duration: 3, steps: 1 };
    const { id } = await engine.callInBackground('trigger-long-running-operation', args);
    await engine.cancel(id);
    expect(await engine.get(id, 10)).toMatchObject({ status: 'cancelled' });
    expect(asked()).toEqual(['trigger-long-running-operation']);
  });

  it('is killed in mid-call: the call fails within seconds, its outcome unknown', async () => {
    const args = { duration: 60, steps: 600 };
    const { id } = await engine.callInBackground('trigger-long-running-operation', args);
    await eventually('progress', async () => (await engine.get(id)).progress !== null);
    const started = performance.now();
    server.kill();
    expect(await engine.get(id, 10)).toMatchObject({
      status: 'failed',
      error: { code: 'upstream_lost' },
      outcomeUnknown: true,
    });
    expect(performance.now() - started).toBeLessThan(5_000);
    expect(asked()).toEqual(['trigger-long-running-operation']);
  });
});

describe('server-filesystem over stdio', () => {
  // The server compares real paths.
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'files-')));
  useServer(() => stdioServer(FILESYSTEM, folder));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('writes a file once, reads it, and refuses what lies outside', async () => {
    const path = join(folder, 'note.txt');
    await resultOf('write_file', { path, content: 'first line\n第二行\n' });
    expect(readFileSync(path, 'utf8')).toBe('first line\n第二行\n');
    const read = await engine.call('read_text_file', { path });
    expect(read.body.result).toMatchObject({
      content: [{ type: 'text', text: 'first line\n第二行\n' }],
    });
    const outside = await engine.call('read_text_file', { path: '/etc/hostname' });
    expect(outside.body.result).toMatchObject({ isError: true });
    expect(asked()).toEqual(['write_file', 'read_text_file', 'read_text_file']);
  });

  it('does so in the background as well', async () => {
    const path = join(folder, 'later.txt');
    const { id } = await engine.callInBackground('write_file', { path, content: 'done' });
    expect(await engine.get(id, 10)).toMatchObject({ status: 'completed' });
    expect(readFileSync(path, 'utf8')).toBe('done');
    await engine.receive([id]);
    expect(asked()).toEqual(['write_file']);
  });
});
