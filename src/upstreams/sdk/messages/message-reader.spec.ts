import { describe, expect, it } from '@jest/globals';
import { UNREADABLE_ANSWER } from '../sdk-failure.js';
import { oversizedAnswer, readMessage } from './message-reader.js';

const errorFor = (id: number): unknown => ({
  jsonrpc: '2.0',
  id,
  error: { code: UNREADABLE_ANSWER, message: expect.stringContaining('not MCP') },
});

describe('A message', () => {
  it('is read as it came', () => {
    const text = '{"jsonrpc":"2.0","id":4,"result":{"content":[],"__proto__":{"x":1},"new":null}}';
    expect(JSON.stringify(readMessage(text))).toBe(text);
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
    expect(readMessage(text)).toEqual(errorFor(4));
  });

  it.each([
    '',
    'listening on port 4',
    '{',
    'null',
    '4',
    '[{"jsonrpc":"2.0","id":4,"result":{}}]',
    '{"id":4,"level":"info"}',
    '{"level":"info","result":"ok","id":4}',
    '{"jsonrpc":"2.0","id":4,"method":NaN}',
    '{"jsonrpc":"2.0","id":4,"method":7,"params":"\\"result\\":"}',
    '{"jsonrpc":"2.0","method":"x","params":{"result":NaN},"id":4}',
    '{"jsonrpc":"2.0","id":"4","result":NaN}',
  ])('that is none fails nothing: %s', (text) => {
    expect(readMessage(text)).toBeUndefined();
  });

  it('that is too long is told by its ends', () => {
    expect(oversizedAnswer('{"jsonrpc":"2.0","id":12,"result":{"a', 'x"}}', 9)).toEqual(
      errorFor(12),
    );
    expect(oversizedAnswer('{"result":{"a', 'x"},"jsonrpc":"2.0","id":12}', 9)).toEqual(
      errorFor(12),
    );
    expect(oversizedAnswer('{"result":{"a', 'x","id":12}}', 9)).toBeUndefined();
    expect(oversizedAnswer('{"method":"x","params":{"a', 'x"},"id":12}', 9)).toBeUndefined();
  });
});
