import { setTimeout as sleep } from 'node:timers/promises';
import { InMemoryEventStore } from '@modelcontextprotocol/sdk/examples/shared/inMemoryEventStore.js';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type PoolFixture, poolFixture } from './support/upstream-pool.js';

let fixture: PoolFixture;
afterEach(() => fixture.close());

describe('Cancelling a call', () => {
  it('reaches the right one while three others run, with its reason', async () => {
    fixture = await poolFixture();
    const calls = ['a', 'b', 'c', 'd'].map((name) => fixture.call('gate', { name }));
    await fixture.upstream.untilCalled(4);
    await calls[2]?.cancel('not needed any more');
    await fixture.upstream.until(() => fixture.upstream.aborted.length > 0);
    const { id } = JSON.parse(
      fixture.upstream.calls.find((call) => call.arguments.name === 'c')?.body ?? '',
    ) as { id: number };
    expect(fixture.upstream.cancelled).toEqual([{ requestId: id, reason: 'not needed any more' }]);
    for (const name of ['a', 'b', 'd']) fixture.upstream.release(name);
    const outcomes = await Promise.all(calls.map((call) => call.outcome));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['result', 'result', 'error', 'result']);
    expect(fixture.upstream.aborted).toEqual(['gate']);
  });

  it('aborts the handler however soon after the call it comes', async () => {
    fixture = await poolFixture();
    await fixture.call('echo').outcome;
    const calls = Array.from({ length: 30 }, (_, index) => {
      const call = fixture.call('gate', { name: `never ${index}` });
      return fixture.upstream
        .until(() => fixture.upstream.calls.length >= index + 2)
        .then(() => sleep(index % 11))
        .then(() => call.cancel('at once'));
    });
    await Promise.all(calls);
    await fixture.upstream.until(() => fixture.upstream.aborted.length === 30);
  });

  it('closes the response stream also of an upstream that ignores it, and resolves then', async () => {
    fixture = await poolFixture();
    const call = fixture.call('stubborn');
    await fixture.upstream.untilCalled(1);
    await call.cancel('stop');
    expect(await call.outcome).toMatchObject({ kind: 'error', outcomeUnknown: true });
    // Long before the stream would be closed for being left over.
    await fixture.upstream.until(() => fixture.upstream.openStreams('tools/call') === 0, 700);
  });

  it('waits until the upstream knows the call: a cancellation that comes first would be lost', async () => {
    let look = (): void => undefined;
    const held = new Promise<void>((resolve) => (look = resolve));
    fixture = await poolFixture({ delayCalls: () => held });
    const call = fixture.call('gate', { name: 'x' });
    await fixture.upstream.untilCalled(1);
    const cancelled = call.cancel('stop');
    await sleep(100);
    look();
    await cancelled;
    await fixture.upstream.until(() => fixture.upstream.aborted.length === 1);
  });

  it('does not resume the stream of a cancelled call, though its events have ids', async () => {
    fixture = await poolFixture({ eventStore: new InMemoryEventStore() });
    const call = fixture.call('slow', { ms: 60_000, steps: 1_000 });
    await fixture.untilProgress();
    await call.cancel('stop');
    await fixture.upstream.until(() => fixture.upstream.openStreams('tools/call') === 0);
    // Longer than the SDK waits before it resumes.
    await sleep(500);
    const resumed = fixture.upstream.headers.filter((headers) => 'last-event-id' in headers);
    expect(resumed).toEqual([]);
  });

  it('works before the connection stands, and the call is never sent', async () => {
    let connect = (): void => undefined;
    const held = new Promise<void>((resolve) => (connect = resolve));
    fixture = await poolFixture({ delayInitialize: () => held });
    const call = fixture.call('echo');
    const other = fixture.call('echo');
    await fixture.upstream.until(() => fixture.upstream.initializes === 1);
    await call.cancel('too late');
    expect(await call.outcome).toMatchObject({ kind: 'error', outcomeUnknown: false });
    connect();
    expect(await other.outcome).toMatchObject({ kind: 'result' });
    expect(fixture.upstream.calls).toHaveLength(1);
  });

  it('may be asked twice and after the end', async () => {
    fixture = await poolFixture();
    const call = fixture.call('gate', { name: 'x' });
    await fixture.upstream.untilCalled(1);
    await Promise.all([call.cancel('one'), call.cancel('two')]);
    await call.cancel('three');
    expect(fixture.upstream.cancelled).toHaveLength(1);
    const ended = fixture.call('echo');
    await ended.outcome;
    await ended.cancel('after the end');
    expect(fixture.upstream.cancelled).toHaveLength(1);
  });

  it('tells an upstream that answers in one JSON body too', async () => {
    fixture = await poolFixture({ jsonMode: true });
    const call = fixture.call('gate', { name: 'x' });
    await fixture.upstream.untilCalled(1);
    await call.cancel('stop');
    await fixture.upstream.until(() => fixture.upstream.aborted.length === 1);
  });
});
