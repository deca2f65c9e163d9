import { afterEach, describe, expect, it } from '@jest/globals';
import { type PoolFixture, poolFixture } from './support/upstream-pool.js';

let fixture: PoolFixture;
afterEach(() => fixture.upstream.stop());

describe('A call that is left to another process', () => {
  it('ends here while the upstream works on, is told nothing and keeps its session', async () => {
    fixture = await poolFixture();
    const { upstream } = fixture;
    const call = fixture.call('gate', { name: 'left' });
    await upstream.until(() => upstream.openStreams('tools/call') === 1);
    call.detach();
    expect(await call.outcome).toMatchObject({ kind: 'error', outcomeUnknown: true });
    await upstream.until(() => upstream.openStreams('tools/call') === 0);
    await fixture.pool.onApplicationShutdown();
    await fixture.http.onApplicationShutdown();
    expect(upstream).toMatchObject({ aborted: [], cancelled: [], deletes: 0 });
  });

  it('never reaches an upstream that it was still on its way to', async () => {
    fixture = await poolFixture();
    const call = fixture.call('echo');
    call.detach();
    expect(await call.outcome).toMatchObject({ kind: 'error', outcomeUnknown: false });
    await fixture.close();
    expect(fixture.upstream.calls).toEqual([]);
  });
});
