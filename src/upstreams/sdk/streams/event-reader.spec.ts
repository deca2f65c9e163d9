import { beforeEach, describe, expect, it } from '@jest/globals';
import { textOf } from './byte-store.js';
import { EventReader } from './event-reader.js';
import { LineSplitter } from './line-splitter.js';

const MAX_BYTES = 40;

describe('An event stream', () => {
  let told: unknown[];
  let isSettled: boolean;
  let lines: LineSplitter;

  beforeEach(() => {
    told = [];
    isSettled = false;
    const maxBytes = (): number => MAX_BYTES;
    const events = new EventReader(maxBytes, {
      onEvent: ({ data, ...event }) => told.push({ ...event, data: data && textOf(data) }),
      onLongLine: (head, bytes) => {
        told.push(['long', textOf(head), bytes]);
        return isSettled;
      },
      onLongLineEnd: (head, tail, bytes) =>
        told.push(['end', textOf(head).length, tail.toString(), bytes]),
      onEndlessLine: () => undefined,
    });
    lines = new LineSplitter({ maxBytes, endsAtReturn: true }, events);
  });

  const read = (...texts: string[]): unknown[] => {
    for (const text of texts) lines.add(Buffer.from(text));
    return told;
  };
  const event = (data: string | undefined, more = {}): unknown => ({
    ...{ name: 'message', id: undefined, retry: undefined, data },
    ...more,
  });

  it('has events with a name, an id, a time to wait and data', () => {
    const bytes = '\ufeffevent: endpoint\nid: 7\nretry:5\ndata: /x\n\ndata:{}\n\n';
    expect(read(bytes)).toEqual([
      event('/x', { name: 'endpoint', id: '7', retry: '5' }),
      event('{}'),
    ]);
  });

  it('joins the data of several lines and takes one space away', () => {
    expect(read('data: a\ndata:  b\ndata\ndata:\n\n')).toEqual([event('a\n b\n\n')]);
  });

  it.each(['\n', '\r\n', '\r'])(
    'is the same wherever it is cut, with lines that end by %j',
    (end) => {
      const bytes = Buffer.from(
        `: hi\nevent: message\ndata: "图"\ndata: 2\n\nid: 1\n\n`.replaceAll('\n', end),
      );
      for (const byte of bytes) lines.add(Buffer.from([byte]));
      expect(told).toEqual([event('"图"\n2'), event(undefined, { id: '1' })]);
    },
  );

  it('passes over comments, however long, and unknown fields', () => {
    expect(read(`: ${'x'.repeat(99)}\n:\nname of a very long field: 1\ndata: 1\n\n`)).toEqual([
      event('1'),
    ]);
  });

  it('tells the data of a line that is too long at once, its end later, and goes on', () => {
    expect(read(`data: ${'a'.repeat(60)}`)).toEqual([['long', 'a'.repeat(34), 66]]);
    expect(read('xyz', '\n\ndata: 1\n\n').slice(1)).toEqual([
      ['end', 34, `data: ${'a'.repeat(60)}xyz`, 69],
      event('1'),
    ]);
  });

  it('does the same with several lines that are too long together', () => {
    const line = `data: ${'a'.repeat(15)}\n`;
    expect(read(line, line, line)).toEqual([['long', `${'a'.repeat(15)}\n`.repeat(3).trim(), 48]]);
    expect(read('data: b\ndata: c\n\ndata: 1\n\n').slice(1)).toEqual([
      ['end', 47, '\nb\nc', 52],
      event('1'),
    ]);
  });

  it('tells nothing more of a long event that is settled, nor of one of another name', () => {
    isSettled = true;
    const long = `data: ${'a'.repeat(60)}\ndata: b\n\n`;
    expect(read(long, 'data: 1\n\n')).toEqual([['long', 'a'.repeat(34), 66], event('1')]);
    told.length = 0;
    expect(read(`event: endpoint\n${long}data: 2\n\n`)).toEqual([event('2')]);
  });
});
