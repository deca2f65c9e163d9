import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { Bytes } from '../streams/byte-store.js';
import { type LineListener, LineSplitter } from '../streams/line-splitter.js';
import { MESSAGES_PER_TURN } from '../streams/message-pace.js';
import { MessageTransport } from './message-transport.js';

const MAX_BYTES = 100_000;

const progress = (done: number): object => ({
  ...{ jsonrpc: '2.0', method: 'notifications/progress' },
  params: { progressToken: 1, progress: done },
});
const notice = (n: number): object => ({ jsonrpc: '2.0', method: `notifications/${n}` });
const answer = (id = 1): object => ({ jsonrpc: '2.0', id, result: {} });

/** Reads lines from memory. */
class LineTransport extends MessageTransport implements LineListener {
  readonly lastWords = undefined;
  readonly happened: unknown[] = [];

  constructor() {
    super();
    this.onmessage = (message) => {
      this.happened.push(message);
      if ('method' in message) void this.handle();
    };
  }

  /** Takes a while, but no turn of the event loop. */
  private async handle(): Promise<void> {
    for (let n = 0; n < 20; n++) await Promise.resolve();
    this.happened.push('handled');
  }

  onLine(line: Bytes): void {
    this.receive(line);
  }

  start = (): Promise<void> => Promise.resolve();

  /** Each list as one piece; meanwhile other work is waiting for each turn of the event loop. */
  async read(...pieces: object[][]): Promise<unknown[]> {
    const otherWork = (): void => {
      this.happened.push('other');
      other = setImmediate(otherWork);
    };
    let other = setImmediate(otherWork);
    const lines = new LineSplitter({ maxBytes: () => MAX_BYTES, endsAtReturn: false }, this);
    const texts = pieces.map((messages) =>
      messages.map((message) => `${JSON.stringify(message)}\n`).join(''),
    );
    await this.readAll(Readable.from(texts.map((text) => Buffer.from(text))), lines);
    clearImmediate(other);
    return this.happened;
  }

  protected writer = () => () => Promise.resolve();

  protected release = (): Promise<void> => Promise.resolve();
}

describe('Messages that came in one piece', () => {
  it('are delivered in their order, without progress that is overtaken', async () => {
    const pieces = [[progress(1), notice(1), progress(2), answer(), progress(3)], [progress(4)]];
    const happened = await new LineTransport().read(...pieces);
    expect(happened.filter((one) => typeof one === 'object')).toEqual([
      ...[notice(1), progress(2), answer(), progress(3), progress(4)],
    ]);
  });

  it('give everything else a turn in between, however they are cut', async () => {
    const notices = Array.from({ length: 2 * MESSAGES_PER_TURN }, (_, n) => notice(n));
    const happened = await new LineTransport().read(notices.slice(0, 3), notices.slice(3));
    const rest = happened.filter((one) => one !== 'handled');
    expect(rest.indexOf('other')).toBe(MESSAGES_PER_TURN);
    expect(rest.filter((one) => one !== 'other')).toEqual(notices);
  });

  it('of a batch are paced and overtaken as if they had come one by one', async () => {
    const batch = [progress(1), ...Array.from({ length: 40 }, (_, n) => notice(n)), progress(2)];
    const rest = (await new LineTransport().read([batch])).filter((one) => one !== 'handled');
    expect(rest.filter((one) => one !== 'other')).toEqual(batch.slice(1));
    expect(rest.filter((one) => one === 'other')).toHaveLength(2);
  });

  it('do not let an answer overtake the progress before it', async () => {
    const happened = await new LineTransport().read([progress(1), answer(1), answer(2)]);
    expect(happened.filter((one) => one !== 'other')).toEqual([
      ...[progress(1), 'handled', answer(1), answer(2)],
    ]);
  });

  it('are delivered also when one among them is too long, which then ends the connection', async () => {
    const transport = new LineTransport();
    const long = { ...notice(1), params: { text: 'x'.repeat(MAX_BYTES) } };
    const happened = await transport.read([answer(1), long, answer(2)]);
    expect(happened.filter((one) => one !== 'other')).toEqual([answer(1), answer(2)]);
    expect(transport.brokenBecause).toMatch(/^it sent a message of more than \d+ bytes/);
  });
});
