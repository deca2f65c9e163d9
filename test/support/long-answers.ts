import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { McpServerOptions } from './mcp-server.js';

interface LongCall {
  id: number;
  /** How the answer comes. */
  as: 'json' | 'events';
  /** Of the text that is the result. */
  bytes: number;
  /** Repeated to fill the text; every other one by default. */
  unit?: string;
  /** Nothing after the text: the server falls silent in the middle of it. */
  isCut?: boolean;
}

const UNIT = 'x'.repeat(65_536);

/** Answers calls of the tool `long` with a text of any length, and counts what of it was taken. */
export class LongAnswers {
  /** Bytes of each answer that could be written before the other side closed its connection. */
  readonly written: number[] = [];
  /** Answers that are being written. */
  open = 0;

  readonly intercept: NonNullable<McpServerOptions['intercept']> = (_request, response, body) => {
    if (!body.includes('"name":"long"')) return false;
    const { id, params } = JSON.parse(body) as { id: number; params: { arguments: LongCall } };
    void this.answer(response, { ...params.arguments, id });
    return true;
  };

  private async answer(response: ServerResponse, call: LongCall): Promise<void> {
    const isStream = call.as === 'events';
    const type = isStream ? 'text/event-stream' : 'application/json';
    response.writeHead(200, { 'content-type': type });
    const end = '"}]},"jsonrpc":"2.0"}';
    const start = `{"id":${call.id},"result":{"content":[{"type":"text","text":"`;
    this.open += 1;
    const number = this.written.push(0) - 1;
    response.write(isStream ? `: hi\r\n\r\nevent: message\ndata: ${start}` : start);
    this.written[number] = await writeText(response, call);
    this.open -= 1;
    if (call.isCut !== true) response.end(isStream ? `${end}\n\n` : end);
  }
}

/** Writes no faster than it is taken; answers how much that was. */
async function writeText(response: ServerResponse, { bytes, unit = UNIT }: LongCall): Promise<number> {
  const closed = once(response, 'close');
  const block = Buffer.from(unit.repeat(Math.max(1, Math.floor(UNIT.length / unit.length))));
  for (let written = 0; ; written += block.length) {
    if (written >= bytes || response.destroyed) return written;
    if (!response.write(block.subarray(0, bytes - written)))
      await Promise.race([once(response, 'drain'), closed]);
  }
}
