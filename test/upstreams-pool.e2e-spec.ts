import { afterEach, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { eventually } from './support/eventually.js';
import { aListener, aToolRequest } from './support/upstream-call.js';
import { type PoolFixture, poolFixture } from './support/upstream-pool.js';

let fixture: PoolFixture;
afterEach(() => fixture.close());

/** Puts 0.05 s in the place of the ten minutes after which an idle connection is closed. */
const hurry = (): void => void (fixture.settings.current.upstreams.idleCloseSec = 0.05);
const untilForgotten = (): Promise<void> =>
  fixture.upstream.until(() => fixture.upstream.deletes === 1);

describe('The pool', () => {
  it('connects once for 50 first calls at the same time', async () => {
    fixture = await poolFixture();
    const calls = Array.from({ length: 50 }, (_, n) => fixture.call('echo', { n }).outcome);
    const outcomes = await Promise.all(calls);
    expect(outcomes.map(({ kind }) => kind)).toEqual(Array(50).fill('result'));
    expect(fixture.upstream.initializes).toBe(1);
    expect(fixture.upstream.calls).toHaveLength(50);
  });

  it('tries again with the next call when connecting failed', async () => {
    let isUp = false;
    fixture = await poolFixture({
      intercept: (_request, response) => {
        if (!isUp) response.writeHead(503).end();
        return !isUp;
      },
    });
    const failed = await Promise.all([fixture.call('echo').outcome, fixture.call('echo').outcome]);
    expect(failed.map(({ kind }) => kind)).toEqual(['error', 'error']);
    expect(fixture.upstream.initializes).toBe(1);
    isUp = true;
    expect(await fixture.call('echo').outcome).toMatchObject({ kind: 'result' });
  });

  it('keeps the connection of a call that may not be sent, and says that it was not', async () => {
    fixture = await poolFixture();
    await fixture.call('echo').outcome;
    const doubts: unknown[] = [];
    fixture.pool.onDoubt((server) => doubts.push(server));
    const listener = aListener({ mayAsk: () => Promise.resolve(false) });
    const refused = fixture.pool.call(fixture.server, aToolRequest('gate'), listener);
    expect(await refused.outcome).toEqual({
      kind: 'error',
      code: 'upstream_unreachable',
      message: 'The call was stopped before it was sent: its upstream was not asked.',
      outcomeUnknown: false,
    });
    expect(await fixture.call('echo').outcome).toMatchObject({ kind: 'result' });
    const { initializes, deletes, calls } = fixture.upstream;
    expect([initializes, deletes, doubts]).toEqual([1, 0, []]);
    expect(calls.map(({ tool }) => tool)).toEqual(['echo', 'echo']);
  });

  it('closes a connection that nobody has borrowed, and ends its session', async () => {
    fixture = await poolFixture();
    hurry();
    await fixture.call('echo').outcome;
    await untilForgotten();
    expect(await fixture.call('echo').outcome).toMatchObject({ kind: 'result' });
    expect(fixture.upstream.initializes).toBe(2);
  });

  it('closes none while a call is in flight, however long', async () => {
    fixture = await poolFixture();
    hurry();
    const long = fixture.call('gate', { name: 'x' });
    await fixture.upstream.untilCalled(1);
    // Its end would start the idle time if the long call did not count as a borrower.
    await fixture.call('slow', { ms: 200 }).outcome;
    await fixture.call('slow', { ms: 200 }).outcome;
    expect([fixture.upstream.deletes, fixture.upstream.initializes]).toEqual([0, 1]);
    fixture.upstream.release('x');
    expect(await long.outcome).toMatchObject({ kind: 'result' });
    await untilForgotten();
  });

  it('drains the connection of a changed configuration', async () => {
    fixture = await poolFixture();
    const old = fixture.call('gate', { name: 'x' });
    await fixture.upstream.untilCalled(1);
    fixture.server = { ...fixture.server, headers: { 'x-version': '2' } };
    fixture.pool.keepOnly([fixture.server]);
    expect(await fixture.call('echo').outcome).toMatchObject({ kind: 'result' });
    expect(fixture.upstream.initializes).toBe(2);
    expect(fixture.upstream.deletes).toBe(0);
    fixture.upstream.release('x');
    expect(await old.outcome).toMatchObject({ kind: 'result' });
    await untilForgotten();
  });

  it.each([
    { what: 'removed', keep: () => [] },
    { what: 'disabled', keep: () => [{ ...fixture.server, enabled: false }] },
  ])('closes the idle connection of a server that was $what', async ({ keep }) => {
    fixture = await poolFixture();
    await fixture.call('echo').outcome;
    fixture.pool.keepOnly([fixture.server]);
    expect(fixture.upstream.deletes).toBe(0);
    fixture.pool.keepOnly(keep());
    await untilForgotten();
  });

  it('does not end the session upstream when it shuts down while a call runs', async () => {
    fixture = await poolFixture();
    const call = fixture.call('gate', { name: 'x' });
    await fixture.upstream.untilCalled(1);
    await fixture.pool.onApplicationShutdown();
    expect(await call.outcome).toMatchObject({ code: 'upstream_lost', outcomeUnknown: true });
    await fixture.upstream.until(() => fixture.upstream.openStreams('tools/call') === 0);
    expect(fixture.upstream.deletes).toBe(0);
    expect(fixture.upstream.cancelled).toEqual([]);
    expect(fixture.upstream.aborted).toEqual([]);
  });

  it('keeps nothing of a call that has ended, in whichever way', async () => {
    const clients = new Set<object>();
    const request = Client.prototype.request;
    Client.prototype.request = function (this: Client, ...args) {
      clients.add(this);
      return request.apply(this, args);
    } as typeof request;
    fixture = await poolFixture({
      intercept: (_request, response, body) => {
        if (body.includes('"refused"')) response.writeHead(403).end();
        if (body.includes('"cut"')) response.writeHead(200, STREAM).end();
        return body.includes('"refused"') || body.includes('"cut"');
      },
    });
    for (const tool of ['echo', 'fail', 'no-such-tool', 'refused', 'cut'])
      await fixture.call(tool).outcome;
    const cancelled = fixture.call('stubborn');
    await fixture.upstream.until(() => fixture.upstream.openStreams('tools/call') === 1);
    await cancelled.cancel('enough');
    Client.prototype.request = request;

    // A connection that lost a call takes no new ones.
    expect(clients.size).toBe(2);
    for (const client of clients)
      for (const map of ['_responseHandlers', '_progressHandlers', '_timeoutInfo'])
        expect([map, (Reflect.get(client, map) as Map<unknown, unknown>).size]).toEqual([map, 0]);
    expect(fixture.upstream.deletes).toBe(0);
    await eventually('streams closed', () => fixture.upstream.openStreams('tools/call') === 0);
  });
});

const STREAM = { 'content-type': 'text/event-stream' };
