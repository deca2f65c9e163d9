import { beforeEach, describe, expect, it } from '@jest/globals';
import { EventReader, type ServerEvent } from './event-reader.js';

describe('An event stream', () => {
  let events: ServerEvent[];
  let reader: EventReader;
  beforeEach(() => {
    events = [];
    reader = new EventReader(20, (event) => events.push(event));
  });
  const read = (...lines: string[]): unknown[] => {
    for (const text of lines) reader.read({ isWhole: true, text });
    return events.map(({ name, data }) => [name, data.isWhole ? data.text : data]);
  };

  it('has events with a name and data', () => {
    expect(read('event: endpoint', 'data: /x', '', 'data:{}', '')).toEqual([
      ['endpoint', '/x'],
      ['message', '{}'],
    ]);
  });

  it('joins the data of several lines and takes one space away', () => {
    expect(read('data: a', 'data:  b', 'data', 'data:', '')).toEqual([['message', 'a\n b\n\n']]);
  });

  it('passes over comments, other fields, and events without data', () => {
    expect(read(': hi', 'id: 7', 'retry: 1', 'event: x', '', 'data: 1', '')).toEqual([
      ['message', '1'],
    ]);
  });

  it('loses what is too long, and goes on', () => {
    expect(read('data: 0123456789', 'data: 0123456789', 'data: 0', '', 'data: 1', '')).toEqual([
      ['message', { isWhole: false, head: '0123456789', tail: '' }],
      ['message', '1'],
    ]);
    reader.read({ isWhole: false, head: 'data: {"jsonrpc"', tail: '}' });
    expect(events.at(-1)).toEqual({
      name: 'message',
      data: { isWhole: false, head: '{"jsonrpc"', tail: '}' },
    });
  });
});
