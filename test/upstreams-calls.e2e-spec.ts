import { afterEach, describe, expect, it } from '@jest/globals';
import { type PoolFixture, poolFixture } from './support/upstream-pool.js';

describe('A call on a pooled connection', () => {
  let fixture: PoolFixture;
  afterEach(() => fixture.close());

  it('gives the result as it came, after one tools/call', async () => {
    fixture = await poolFixture();
    const call = fixture.call('echo', { a: [1, 'ü'], constructor: 1 });
    expect(await call.outcome).toEqual({
      kind: 'result',
      result: {
        content: [{ type: 'text', text: '{"a":[1,"ü"],"constructor":1}' }],
        structuredContent: { a: [1, 'ü'], constructor: 1 },
      },
    });
    expect(fixture.upstream.calls).toHaveLength(1);
  });
});
