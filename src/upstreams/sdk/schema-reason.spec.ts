import { describe, expect, it } from '@jest/globals';
import { InitializeResultSchema, JSONRPCMessageSchema } from '@modelcontextprotocol/sdk/types.js';
import { schemaReason } from './schema-reason.js';

describe('What was wrong with an answer', () => {
  it.each<[unknown, string]>([
    [{ jsonrpc: '2.0', id: 4, result: 7 }, 'result: expected object, received number'],
    [
      { jsonrpc: '2.0', id: 4, result: { _meta: 7 } },
      'result._meta: expected object, received number',
    ],
    [{ jsonrpc: '2.0', id: 4, error: 'no' }, 'error: expected object, received string'],
    ['hello', 'expected object, received string'],
    [[], 'expected object, received array'],
  ])('is said in one line: %j', (value, reason) => {
    expect(schemaReason(JSONRPCMessageSchema.safeParse(value).error!.issues)).toBe(reason);
  });

  it('is the first of several things', () => {
    const { issues } = InitializeResultSchema.safeParse({}).error!;
    expect(issues).toHaveLength(3);
    expect(schemaReason(issues)).toBe('protocolVersion: expected string, received undefined');
  });
});
