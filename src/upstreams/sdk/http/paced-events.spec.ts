import { describe, expect, it } from '@jest/globals';
import type { ServerEvent } from '../streams/event-reader.js';
import { MESSAGES_PER_TURN } from '../streams/message-pace.js';
import { pacedEvents } from './paced-events.js';

const anEvent = (message: unknown, fields: Partial<ServerEvent> = {}): ServerEvent => ({
  ...{ name: 'message', id: undefined, retry: undefined },
  ...{ data: [Buffer.from(JSON.stringify(message))], ...fields },
});
const progress = (done: number): object => ({
  ...{ jsonrpc: '2.0', method: 'notifications/progress' },
  params: { progressToken: 1, progress: done },
});
const notice = (n: number): object => ({ jsonrpc: '2.0', method: `notifications/${n}` });
const answer = { jsonrpc: '2.0', id: 1, result: {} };
const COMMENT = anEvent(0, { data: undefined });

async function textOf(...events: ServerEvent[]): Promise<string> {
  let text = '';
  for await (const piece of pacedEvents(events)) text += piece.toString();
  return text;
}
const lines = (...messages: unknown[]): string =>
  messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join('');

describe('Events that came together', () => {
  it('are passed on in their order, without progress that is overtaken', async () => {
    const events = [
      progress(1),
      notice(1),
      progress(2),
      notice(2),
      progress(3),
      answer,
      progress(4),
    ];
    expect(await textOf(...events.map((event) => anEvent(event)))).toBe(
      lines(notice(1), notice(2), progress(3), answer, progress(4)),
    );
  });

  it('may have comments in between', async () => {
    const events = [anEvent(progress(1)), COMMENT, anEvent(progress(2)), COMMENT, anEvent(answer)];
    expect(await textOf(...events)).toBe(lines(progress(2), answer));
  });

  it('of which one is no message of the SDK, or no JSON, are all passed on', async () => {
    const events = [anEvent(progress(1)), anEvent(0, { data: [Buffer.from('{')] })];
    expect(await textOf(...events, anEvent(progress(2)))).toBe(
      `${lines(progress(1))}data: {\n\n${lines(progress(2))}`,
    );
  });

  it('of a batch are events of their own', async () => {
    const batch = anEvent([progress(1), notice(1), progress(2), answer], { id: '7' });
    expect(await textOf(batch)).toBe(`${lines(notice(1), progress(2))}id: 7\n${lines(answer)}`);
  });

  it('keep the position in the stream, and how long to wait before it is asked for again', async () => {
    const first = anEvent(progress(1), { id: 'a', retry: '9' });
    expect(await textOf(first, anEvent(notice(1)), anEvent(progress(2)))).toBe(
      `id: a\ndata: \n\nretry: 9\n${lines(notice(1), progress(2))}`,
    );
    expect(await textOf(first, anEvent(progress(2), { id: 'b' }))).toBe(
      `retry: 9\nid: b\n${lines(progress(2))}`,
    );
  });

  it('give everything else a turn in between', async () => {
    const events = Array.from({ length: 3 * MESSAGES_PER_TURN }, (_, n) => anEvent(notice(n)));
    const happened: string[] = [];
    const otherWork = (): void => {
      happened.push('other');
      other = setImmediate(otherWork);
    };
    let other = setImmediate(otherWork);
    for await (const piece of pacedEvents(events))
      happened.push(`${piece.toString().match(/data/g)?.length}`);
    clearImmediate(other);
    const messages = String(MESSAGES_PER_TURN);
    expect(happened).toEqual([messages, 'other', messages, 'other', messages]);
  });
});
