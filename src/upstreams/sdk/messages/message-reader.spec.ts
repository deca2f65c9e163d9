import { describe, expect, it } from '@jest/globals';
import { UNREADABLE_ANSWER } from '../sdk-failure.js';
import type { OversizedAnswer } from '../streams/oversized-answer.js';
import {
  answerBegun,
  answerEnded,
  isAnswer,
  parseMessages,
  readMessage,
} from './message-reader.js';

const readMessages = (text: string): unknown[] =>
  parseMessages(text).flatMap((value) => readMessage(value) ?? []);

const errorFor = (id: number): unknown => ({
  jsonrpc: '2.0',
  id,
  error: { code: UNREADABLE_ANSWER, message: expect.stringContaining('not MCP') },
});

describe('A message', () => {
  it('is read as it came', () => {
    const text = '{"jsonrpc":"2.0","id":4,"result":{"content":[],"__proto__":{"x":1},"new":null}}';
    expect(JSON.stringify(readMessages(text))).toBe(`[${text}]`);
  });

  it.each([
    '{"jsonrpc":"2.0","id":4,"result":{"score":NaN}}',
    '{"jsonrpc": "2.0", "id": 4, "error": {"code": 1, "message": }}',
    '{"id":4,"jsonrpc":"2.0","result":{"score":Infinity}}',
    '{"result":{"score":NaN},"jsonrpc":"2.0","id":4}',
    ' {"jsonrpc":"2.0","result":{"method":NaN},"id":4}\t',
    '{"jsonrpc":"2.0","id":4,"result":7}',
    '{"jsonrpc":"2.0","id":4,"error":"it failed"}',
  ])('that was meant as an answer fails its request: %s', (text) => {
    expect(readMessages(text)).toEqual([errorFor(4)]);
  });

  it.each([
    '',
    'listening on port 4',
    '{',
    'null',
    '4',
    '[]',
    '[7,null]',
    '{"id":4,"level":"info"}',
    '{"level":"info","result":"ok","id":4}',
    '{"jsonrpc":"2.0","id":4,"method":NaN}',
    '{"jsonrpc":"2.0","id":4,"method":7,"params":"\\"result\\":"}',
    '{"jsonrpc":"2.0","method":"x","params":{"result":NaN},"id":4}',
    '{"jsonrpc":"2.0","id":"4","result":NaN}',
  ])('that is none fails nothing: %s', (text) => {
    expect(readMessages(text)).toEqual([]);
  });

  it('may stand in a batch, of which each is read by itself', () => {
    const answer = '{"jsonrpc":"2.0","id":3,"result":{"a":1}}';
    const batch = `[${answer},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":4,"result":7},9]`;
    expect(readMessages(batch)).toEqual([
      JSON.parse(answer),
      { jsonrpc: '2.0', method: 'x' },
      errorFor(4),
    ]);
  });

  it('that is too long is known by its beginning or by its end', () => {
    const rest = Buffer.alloc(400, 'a');
    const idFirst = '{"jsonrpc":"2.0","id":12,"result":{"content":[{"type":"text","text":"';
    expect(oversized(answerBegun([Buffer.from(idFirst), rest], 90))).toEqual([12, 90, aText]);
    const idLast = [
      Buffer.from('{"result":{"con'),
      Buffer.from('tent":[{"type":"text","text":"'),
      rest,
    ];
    const tail = Buffer.from('x"}]},"jsonrpc":"2.0","id":12}\r');
    expect(answerBegun(idLast, 90)).toBeUndefined();
    expect(isAnswer(idLast)).toBe(true);
    expect(oversized(answerEnded(idLast, tail, 91))).toEqual([12, 91, aText]);
  });

  it.each([
    ['{"result":{"a', 'x","id":12}}'],
    ['{"method":"x","params":{"a', 'x"},"id":12}'],
    ['{"jsonrpc":"2.0","id":12,"method":"x","params":{"a', 'x"},"id":12}'],
    ['[{"jsonrpc":"2.0","id":12,"result":{"a', 'x"},"id":12}]'],
    ['aaaaa', '"id":12}'],
  ])('that is too long and does not say what it answers is known as none: %s', (head, tail) => {
    const bytes = [Buffer.from(head)];
    expect(answerBegun(bytes, 9)).toBeUndefined();
    expect(answerEnded(bytes, Buffer.from(tail), 9)).toBeUndefined();
  });
});

const aText = {
  content: [{ type: 'text', text: expect.stringMatching(/^a+$/) as unknown }],
  isError: false,
};

function oversized(answer: ReturnType<typeof answerBegun>): unknown[] {
  const data = answer?.error.data as OversizedAnswer;
  return [answer?.id, data.bytes, data.kept()];
}
