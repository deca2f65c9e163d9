import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface LongArguments {
  /** How the answer comes: as one body, as an event, or as an event of a stream that was broken off before it. */
  as: 'json' | 'events' | 'resumed';
  /** Of the text that is the result. */
  bytes: number;
  /** Repeated to fill the text. */
  unit?: string;
}

interface LongCall extends LongArguments {
  id: number;
}

const BLOCK_BYTES = 65_536;
const EVENT_ID = 'before-the-answer';

/** Answers calls of the tool `long` with a text of any length, and counts what of it was taken. */
export class LongAnswers {
  /** Bytes of each text that were written until it was whole, or nobody took them any more. */
  readonly written: number[] = [];
  private broken: LongCall | undefined;

  /** As an option of `McpTestServer`. */
  readonly intercept = (
    request: IncomingMessage,
    response: ServerResponse,
    body: string,
  ): boolean => {
    const isResumed = request.headers['last-event-id'] === EVENT_ID;
    const call = isResumed ? this.broken : callIn(body);
    if (call === undefined) return false;
    if (call.as === 'resumed' && !isResumed) this.breakOff(response, call);
    else void this.answer(response, call);
    return true;
  };

  private breakOff(response: ServerResponse, call: LongCall): void {
    this.broken = call;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`id: ${EVENT_ID}\nretry: 10\ndata:\n\n`);
  }

  private async answer(response: ServerResponse, call: LongCall): Promise<void> {
    const isBody = call.as === 'json';
    const type = isBody ? 'application/json' : 'text/event-stream';
    response.writeHead(200, { 'content-type': type });
    const start = `{"id":${call.id},"result":{"content":[{"type":"text","text":"`;
    const end = '"}]},"jsonrpc":"2.0"}';
    response.write(isBody ? start : `: hi\r\n\r\nevent: message\ndata: ${start}`);
    this.written.push(await writeText(response, call));
    response.end(isBody ? end : `${end}\n\n`);
  }
}

function callIn(body: string): LongCall | undefined {
  if (!body.includes('"name":"long"')) return undefined;
  const { id, params } = JSON.parse(body) as { id: number; params: { arguments: LongArguments } };
  return { ...params.arguments, id };
}

/** Writes no faster than it is taken; answers how much that was. */
async function writeText(
  response: ServerResponse,
  { bytes, unit = 'x' }: LongCall,
): Promise<number> {
  const closed = once(response, 'close');
  const block = Buffer.from(unit.repeat(Math.floor(BLOCK_BYTES / Buffer.byteLength(unit))));
  for (let written = 0; ; written += block.length) {
    if (written >= bytes || response.destroyed) return written;
    const isFull = !response.write(block.subarray(0, bytes - written));
    if (isFull) await Promise.race([once(response, 'drain'), closed]);
  }
}
