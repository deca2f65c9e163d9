import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import type { UpstreamCall } from '../src/upstreams/upstream-call.js';
import type { UpstreamPool } from '../src/upstreams/upstream-pool.js';
import { eventually } from './support/eventually.js';
import { StdioUpstream } from './support/stdio-upstream.js';
import { aListener, aToolRequest } from './support/upstream-call.js';
import { aPool, LOOPBACK, type PoolFixture, poolFixture } from './support/upstream-pool.js';

const ONE = 'app/session/one';
const OTHER = 'app/session/other';
const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

describe('a server over HTTP', () => {
  let fixture: PoolFixture;
  /** The MCP sessions that carried calls of an initiator. */
  let used: Map<string, Set<string>>;

  beforeEach(async () => {
    used = new Map();
    fixture = await poolFixture({
      intercept: (request, _response, body) => {
        const { method, params } = body === '' ? {} : JSON.parse(body);
        if (method !== 'tools/call') return false;
        const { by } = params.arguments as { by: string };
        const sessions = used.get(by) ?? new Set();
        used.set(by, sessions.add(String(request.headers['mcp-session-id'])));
        return false;
      },
    });
  });

  afterEach(() => fixture.close());

  const call = (by: string, tool = 'echo', args: object = {}): UpstreamCall => {
    const request = aToolRequest(tool, { by, ...args }, by);
    return fixture.pool.call(fixture.server, request, aListener());
  };

  const callTimes = async (times: number, by: string): Promise<void> => {
    const calls = Array.from({ length: times }, () => call(by).outcome);
    for (const outcome of await Promise.all(calls)) expect(outcome.kind).toBe('result');
  };

  const sessionsOf = (by: string): string[] => [...(used.get(by) ?? [])];

  it('shared by all has one session for all calls', async () => {
    await Promise.all([callTimes(10, ONE), callTimes(10, OTHER)]);
    expect(sessionsOf(ONE)).toHaveLength(1);
    expect(sessionsOf(OTHER)).toEqual(sessionsOf(ONE));
  });

  it('shared by session has one session for each initiator, and another one for the service', async () => {
    fixture.server = { ...fixture.server, sharing: 'session' };
    await Promise.all([callTimes(10, ONE), callTimes(10, OTHER)]);
    await callTimes(1, ONE);
    expect([sessionsOf(ONE).length, sessionsOf(OTHER).length]).toEqual([1, 1]);
    expect(sessionsOf(ONE)).not.toEqual(sessionsOf(OTHER));
    expect(fixture.upstream.initializes).toBe(2);
    await fixture.pool.listTools(fixture.server);
    await fixture.pool.probe(fixture.server);
    expect(fixture.upstream.initializes).toBe(3);
  });

  it('gets another session when its credentials were changed, and when they are shared otherwise', async () => {
    fixture.server = { ...fixture.server, sharing: 'session' };
    await callTimes(1, ONE);
    fixture.server = { ...fixture.server, headers: { authorization: 'changed' } };
    fixture.pool.keepOnly([fixture.server]);
    await callTimes(1, ONE);
    expect(sessionsOf(ONE)).toHaveLength(2);
    await fixture.upstream.until(() => fixture.upstream.deletes === 1);
    fixture.server = { ...fixture.server, sharing: 'shared' };
    fixture.pool.keepOnly([fixture.server]);
    await callTimes(1, ONE);
    expect(sessionsOf(ONE)).toHaveLength(3);
    await fixture.upstream.until(() => fixture.upstream.deletes === 2);
  });

  it('has all its sessions ended when it is disabled, each after its last call', async () => {
    fixture.server = { ...fixture.server, sharing: 'session' };
    await callTimes(1, OTHER);
    const running = call(ONE, 'gate', { name: 'g' });
    await fixture.upstream.untilCalled(2);
    fixture.pool.keepOnly([{ ...fixture.server, enabled: false }]);
    await fixture.upstream.until(() => fixture.upstream.deletes === 1);
    fixture.upstream.release('g');
    expect(await running.outcome).toMatchObject({ kind: 'result' });
    await fixture.upstream.until(() => fixture.upstream.deletes === 2);
  });

  it('has a session for each call that is ended with it, 100 times', async () => {
    fixture.server = { ...fixture.server, sharing: 'call' };
    await callTimes(10, ONE);
    await fixture.upstream.until(() => fixture.upstream.deletes === 10);
    const before = openDescriptors();
    for (let round = 2; round <= 11; round++) await callTimes(10, ONE);
    expect(sessionsOf(ONE)).toHaveLength(110);
    await fixture.upstream.until(() => fixture.upstream.deletes === 110);
    await eventually('descriptors are given back', () => openDescriptors() <= before + 5);
    expect(fixture.upstream.openStreams('GET')).toBe(0);
  });

  it('ends the session of a call that was cancelled', async () => {
    fixture.server = { ...fixture.server, sharing: 'call' };
    const running = call(ONE, 'gate', { name: 'never' });
    await fixture.upstream.untilCalled(1);
    await running.cancel('enough');
    await fixture.upstream.until(() => fixture.upstream.deletes === 1);
  });
});

describe('a program', () => {
  let upstream: StdioUpstream;
  let http: OutboundHttp;
  let pool: UpstreamPool;

  beforeEach(() => {
    upstream = new StdioUpstream();
    http = new OutboundHttp(LOOPBACK);
    pool = aPool(http);
  });

  afterEach(async () => {
    await pool.onApplicationShutdown();
    await http.onApplicationShutdown();
    await upstream.untilGone();
    upstream.remove();
  });

  const echo = async (sharing: 'session' | 'call', by: string): Promise<void> => {
    const server = upstream.server('well', { sharing });
    const { kind } = await pool.call(server, aToolRequest('echo', {}, by), aListener()).outcome;
    expect(kind).toBe('result');
  };

  it('shared by session is started once for each initiator', async () => {
    await Promise.all([echo('session', ONE), echo('session', ONE), echo('session', OTHER)]);
    await echo('session', OTHER);
    expect(upstream.starts).toHaveLength(2);
  });

  it('of one call is gone after the call, 100 times', async () => {
    await echo('call', ONE);
    await upstream.untilGone();
    const before = openDescriptors();
    for (let round = 0; round < 25; round++)
      await Promise.all(Array.from({ length: 4 }, () => echo('call', ONE)));
    expect(upstream.starts).toHaveLength(101);
    await upstream.untilGone();
    await eventually('descriptors are given back', () => openDescriptors() <= before);
  }, 120_000);

  it('of one call is ended at once when the call is cancelled while it starts', async () => {
    const server = upstream.server('hangs', { sharing: 'call' });
    const call = pool.call(server, aToolRequest('echo', {}, ONE), aListener());
    await eventually('it has started', () => upstream.starts.length === 1);
    await call.cancel('enough');
    await upstream.untilGone();
  });
});
