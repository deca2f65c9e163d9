import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../src/common/clock.js';
import { within } from '../src/common/within.js';
import { readEnvironment } from '../src/config/environment.js';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import type { McpServer } from '../src/upstreams/mcp-server.js';
import { SdkConnector } from '../src/upstreams/sdk/sdk-connector.js';
import type { UpstreamCall, UpstreamProgress } from '../src/upstreams/upstream-call.js';
import type { UpstreamPool } from '../src/upstreams/upstream-pool.js';
import { eventually } from './support/eventually.js';
import { SECRETS_KEYS } from './support/secrets-keys.js';
import { aProgram, isAlive, StdioUpstream } from './support/stdio-upstream.js';
import {
  aConnector,
  aPool,
  CONFIGURATION,
  PROGRAMS,
  LOOPBACK,
  type PoolSettings,
  settingsOf,
} from './support/upstream-pool.js';
import { aListener, aToolRequest } from './support/upstream-call.js';

const LOST = { kind: 'error', code: 'upstream_lost', outcomeUnknown: true };
const UNREACHABLE = { kind: 'error', code: 'upstream_unreachable', outcomeUnknown: false };

let http: OutboundHttp;
let settings: PoolSettings;
let pool: UpstreamPool;
let upstream: StdioUpstream;
let progress: UpstreamProgress[];

beforeEach(() => {
  http = new OutboundHttp(LOOPBACK);
  settings = settingsOf();
  pool = aPool(http, settings);
  upstream = new StdioUpstream();
  progress = [];
});
afterEach(async () => {
  await pool.onApplicationShutdown();
  await http.onApplicationShutdown();
  await upstream.untilGone();
  upstream.remove();
});

const ask = (server: McpServer, tool: string, args: Record<string, unknown> = {}): UpstreamCall =>
  pool.call(
    server,
    aToolRequest(tool, args),
    aListener({ onProgress: (one) => void progress.push(one) }),
  );
const call = (tool: string, args: Record<string, unknown> = {}): UpstreamCall =>
  ask(upstream.server(), tool, args);
const textOf = async (asked: UpstreamCall): Promise<string> => {
  const outcome = await asked.outcome;
  if (outcome.kind !== 'result') throw new Error(outcome.message);
  return (outcome.result.content as { text: string }[])[0]!.text;
};

describe('A program over stdio', () => {
  it('tells of itself, lists its tools, answers calls and tells their progress', async () => {
    const connector = aConnector(http);
    const session = await connector.connect(
      upstream.server(),
      'shared',
      new AbortController().signal,
    );
    expect(session.about).toEqual({
      name: 'stdio-test',
      version: '7',
      protocolVersion: '2025-11-25',
      instructions: 'Use echo.',
    });
    await session.close({ forget: true });
    await session.closed;
    expect((await pool.listTools(upstream.server())).tools.map(({ name }) => name)).toContain(
      'echo',
    );
    expect(await call('echo', { 文: '字 \u2028 ✓' }).outcome).toMatchObject({
      result: { structuredContent: { 文: '字 \u2028 ✓' } },
    });
    expect(await textOf(call('slow', { ms: 60, steps: 3 }))).toBe('done after 60 ms');
    expect(progress.at(-1)).toEqual({ progress: 3, total: 3 });
    expect(upstream.starts).toHaveLength(2);
  });

  it('is started without a shell: its arguments come as they are', async () => {
    const odd = ['$(exit 1)', '; exit', '*', '', "'"];
    const { args } = upstream.server();
    await ask(upstream.server('well', { args: [...args, ...odd] }), 'echo').outcome;
    expect(upstream.starts[0]?.more).toEqual(odd);
  });

  it('gets of our environment places and language only, and what was registered for it', async () => {
    const ours = {
      ...{ PATH: process.env.PATH, HOME: '/home/x', LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', TZ: 'UTC' },
      ...{ DATABASE_URL: 'postgres://u:secret@h/d', BGC_ADMIN_KEY: 'admin-key-0123456789012345' },
      BGC_SECRETS_KEYS: SECRETS_KEYS,
      ...{ AWS_SECRET_ACCESS_KEY: 'secret', NODE_OPTIONS: '--no-warnings', LD_PRELOAD: '' },
    };
    pool = aPool(http, settings, aConnector(http, readEnvironment(ours)));
    const env = { TOKEN: 'theirs', TZ: 'Asia/Shanghai' };
    const seen = JSON.parse(await textOf(ask(upstream.server('well', { env }), 'env'))) as object;
    const expected = { HOME: '/home/x', LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', ...env };
    expect(seen).toEqual({ PATH: process.env.PATH, ...expected });
  });

  it('may say on its outputs what it likes, as much as it likes', async () => {
    const lines = [
      '',
      'ready!',
      '{',
      '[]',
      'null',
      '{"jsonrpc":"2.0"}',
      '\u0000\ufffd',
      '{"id":1,"level":"info","msg":"up"}',
    ];
    expect(await textOf(call('noise', { lines }))).toContain('meant');
    expect(await textOf(call('flood', { bytes: 20_000_000 }))).toBe('said it all');
    expect(await textOf(call('echo'))).toBe('{}');
  });

  it.each([
    ['not JSON, with its id first', '{"jsonrpc":"2.0","id":ID,"result":{"score":NaN}}'],
    ['not JSON, with its id last', '{"result":{"score":NaN},"jsonrpc":"2.0","id":ID}'],
    ['not MCP', '{"jsonrpc":"2.0","id":ID,"result":{"_meta":7}}'],
  ])('fails one call only with an answer that is %s', async (_, line) => {
    expect(await call('raw', { line }).outcome).toMatchObject({
      code: 'upstream_error',
      message: expect.stringContaining("The upstream's answer is not MCP: "),
      outcomeUnknown: true,
    });
    expect(await textOf(call('echo'))).toBe('{}');
    expect(upstream.starts).toHaveLength(1);
  });
});

describe('A program that can not be started', () => {
  it.each([
    ['is not there', '/no/such-program', 'there is no program "/no/such-program" (ENOENT)'],
    ['is no program', 'README', 'may not be executed (EACCES)'],
  ])('because it %s: the message says so', async (_, command, message) => {
    const file = join(upstream.folder, 'README');
    writeFileSync(file, 'no program');
    chmodSync(file, 0o644);
    const given = command === 'README' ? file : command;
    expect(await ask(aProgram({ command: given }), 'echo').outcome).toMatchObject({
      ...UNREACHABLE,
      message: expect.stringContaining(message),
    });
  });

  it('because it exits: the message has its exit code and what it said last', async () => {
    expect(await ask(upstream.server('fails'), 'echo').outcome).toEqual({
      ...UNREACHABLE,
      message:
        "The upstream can't be reached: the server program exited with code 3: Error: no licence",
    });
  });

  it('because it does not answer: the message has what it said last, and it is ended', async () => {
    class HastyConnector extends SdkConnector {
      // Long enough for a program to have said something on a busy machine.
      protected override readonly startMs = 4_000;
    }
    pool = aPool(http, settings, new HastyConnector(http, CONFIGURATION, PROGRAMS));
    expect(await ask(upstream.server('hangs'), 'echo').outcome).toEqual({
      ...UNREACHABLE,
      message: 'No answer within 4000 ms: waiting for the licence server',
    });
    await upstream.untilGone();
  });

  it('delays the calls of no other server, and nobody who leaves', async () => {
    const hanging = upstream.server('hangs', { id: '01890a5d-ac96-774b-bcce-b302099a8059' });
    const stuck = ask(hanging, 'echo');
    expect(await textOf(call('echo'))).toBe('{}');
    await pool.onApplicationShutdown();
    expect(await stuck.outcome).toMatchObject(UNREACHABLE);
  });

  it('is held back after each failure, and says until when', async () => {
    const clock = new LateClock();
    pool = aPool(http, settings, undefined, clock);
    const missing = join(upstream.folder, 'missing');
    writeFileSync(missing, '');
    const server = upstream.server(`fails-with:${missing}`);
    await ask(server, 'echo').outcome;
    const heldBack = (await ask(server, 'echo').outcome) as { message: string };
    expect(heldBack).toMatchObject(UNREACHABLE);
    expect(heldBack.message).toMatch(
      /^The upstream can't be reached: .* Error: no licence\. The next try is at 20\d\d-.*Z\.$/,
    );
    expect(upstream.starts).toHaveLength(1);

    clock.lateMs = 1_000;
    await ask(server, 'echo').outcome;
    clock.lateMs = 2_900;
    await ask(server, 'echo').outcome;
    expect(upstream.starts).toHaveLength(2);
    clock.lateMs = 3_000;
    expect(await ask(server, 'echo').outcome).toMatchObject(UNREACHABLE);
    expect(upstream.starts).toHaveLength(3);

    await expect(pool.probe(server)).rejects.toMatchObject({ code: 'upstream_unreachable' });
    expect(upstream.starts).toHaveLength(4);
  });

  it('and starts in the end is held back no more; each try is told', async () => {
    const missing = join(upstream.folder, 'missing');
    writeFileSync(missing, '');
    const server = upstream.server(`fails-with:${missing}`);
    const told: (string | undefined)[] = [];
    pool.onConnect((_, failure) => told.push(failure?.code));
    await ask(server, 'echo').outcome;
    rmSync(missing);
    await pool.probe(server);
    expect(await textOf(ask(server, 'echo'))).toBe('{}');
    expect(told).toEqual(['upstream_unreachable', undefined]);
  });
});

describe('A program that ends in mid-call', () => {
  it('loses every call at once, and the next call starts it anew at the first try', async () => {
    for (let round = 1; round <= 3; round++) {
      const calls = [call('never'), call('never'), call('slow', { ms: 60_000 })];
      await upstream.untilReceived('tools/call', round * 4 - 1);
      const started = performance.now();
      process.kill(upstream.lastPid, 'SIGKILL');
      for (const { outcome } of calls)
        expect(await outcome).toEqual({
          ...LOST,
          message:
            'The connection to the upstream was lost: the server program was ended by SIGKILL',
        });
      expect(performance.now() - started).toBeLessThan(1_000);
      expect(await textOf(call('echo'))).toBe('{}');
      expect(upstream.starts).toHaveLength(round + 1);
    }
  });

  it.each([
    ['exit', { code: 7, say: 'disk full' }, 'exited with code 7: disk full'],
    ['throw', { message: 'no such table' }, 'exited with code 1: Error: no such table'],
  ])('says why: %s', async (tool, args, why) => {
    expect(await call(tool, args).outcome).toEqual({
      ...LOST,
      message: `The connection to the upstream was lost: the server program ${why}`,
    });
  });

  it('takes with it what it had started', async () => {
    const children = [Number(await textOf(call('child'))), Number(await textOf(call('child')))];
    expect(children.map(isAlive)).toEqual([true, true]);
    const started = performance.now();
    const { outcome } = call('never');
    await upstream.untilReceived('tools/call', 3);
    process.kill(upstream.lastPid, 'SIGKILL');
    expect(await outcome).toMatchObject(LOST);
    expect(performance.now() - started).toBeLessThan(1_000);
    expect(await textOf(call('echo'))).toBe('{}');
    await eventually('children gone', () => !children.some(isAlive), 4_000);
  });

  it('is told as lost although what it had started goes on writing', async () => {
    const child = Number(await textOf(call('child', { isTalking: true })));
    const { outcome } = call('never');
    await upstream.untilReceived('tools/call', 2);
    const started = performance.now();
    process.kill(upstream.lastPid, 'SIGKILL');
    expect(await outcome).toMatchObject(LOST);
    expect(performance.now() - started).toBeLessThan(3_000);
    await eventually('the child is gone', () => !isAlive(child), 4_000);
  });

  it('is asked again, anew, when it surely did not read the call', async () => {
    const waits = call('never');
    await textOf(call('deafen'));
    await eventually('deaf', async () => {
      const answer = call('echo');
      const isAnswered = await within(200, answer.outcome);
      await answer.cancel('it was read');
      return isAnswered;
    });
    expect(upstream.starts).toHaveLength(2);
    process.kill(upstream.starts[0]!.pid, 'SIGKILL');
    expect(await waits.outcome).toMatchObject(LOST);
  });
});

describe('Cancelling a call over stdio', () => {
  it('tells the program which one, and drops what it answers later', async () => {
    const file = join(upstream.folder, 'go');
    const first = call('until', { file });
    const other = call('until', { file });
    await upstream.untilReceived('tools/call', 2);
    await first.cancel('not needed any more');
    expect(await first.outcome).toMatchObject({ ...LOST, code: 'upstream_lost' });
    const [asked] = upstream.received('tools/call');
    await upstream.untilReceived('notifications/cancelled', 1);
    expect(upstream.received('notifications/cancelled')[0]?.params).toEqual({
      requestId: asked?.id,
      reason: 'not needed any more',
    });
    // Number 0 could not be cancelled: the connection has used it up.
    expect(asked?.id).not.toBe(0);
    writeFileSync(file, '');
    expect(await textOf(other)).toBe('the file is there');
    expect(await textOf(call('echo'))).toBe('{}');
  });

  it('ends the call also when the program does not read any more', async () => {
    await call('echo').outcome;
    process.kill(upstream.lastPid, 'SIGSTOP');
    const big = { text: 'x'.repeat(1_000_000) };
    const calls = [call('echo', big), call('echo', big)];
    await nextTurn();
    const started = performance.now();
    await Promise.all(calls.map((one) => one.cancel('stop')));
    for (const { outcome } of calls) expect(await outcome).toMatchObject(LOST);
    expect(performance.now() - started).toBeLessThan(4_000);
  });
});

describe('A connection over stdio', () => {
  it('of a changed configuration goes on for the calls on it, and ends with the last of them', async () => {
    const file = join(upstream.folder, 'go');
    const old = call('until', { file });
    await upstream.untilReceived('tools/call', 1);
    const changed = upstream.server('well', { env: { VERSION: '2' } });
    pool.keepOnly([changed]);
    expect(await textOf(ask(changed, 'env'))).toContain('"VERSION":"2"');
    const [before, after] = upstream.starts.map(({ pid }) => pid);
    expect([isAlive(before!), isAlive(after!)]).toEqual([true, true]);
    writeFileSync(file, '');
    expect(await textOf(old)).toBe('the file is there');
    await eventually('old program gone', () => !isAlive(before!));
    expect(isAlive(after!)).toBe(true);
  });

  it('ends when nobody has borrowed it for a while, and not before', async () => {
    settings.current.upstreams.idleCloseSec = 0.05;
    expect(await textOf(call('slow', { ms: 400 }))).toBe('done after 400 ms');
    await upstream.untilGone();
    expect(await textOf(call('echo'))).toBe('{}');
    expect(upstream.starts).toHaveLength(2);
  });

  it('ends a program that nothing but SIGKILL ends', async () => {
    const server = upstream.server('stubborn');
    const child = Number(await textOf(ask(server, 'child')));
    const started = performance.now();
    await pool.onApplicationShutdown();
    expect(performance.now() - started).toBeLessThan(6_000);
    expect([isAlive(upstream.lastPid), isAlive(child)]).toEqual([false, false]);
    expect(upstream.entries().filter(({ event }) => event === 'SIGTERM')).toHaveLength(1);
  });

  it('that was probed is there for the calls; of a disabled server it ends at once', async () => {
    await pool.probe(upstream.server());
    await call('echo').outcome;
    expect(upstream.starts).toHaveLength(1);
    pool.keepOnly([]);
    await upstream.untilGone();
    await pool.probe(upstream.server('well', { enabled: false }));
    await upstream.untilGone();
    expect(upstream.starts).toHaveLength(2);
  });
});

/** The time, and more. */
class LateClock extends SystemClock {
  lateMs = 0;

  override monotonicMs(): number {
    return super.monotonicMs() + this.lateMs;
  }
}
