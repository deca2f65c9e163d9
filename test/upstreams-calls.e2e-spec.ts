import { afterEach, describe, expect, it } from '@jest/globals';
import { Agent, type Dispatcher } from 'undici';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import { textResult, type ToolContext } from './support/mcp-tools.js';
import { LOOPBACK, type PoolFixture, poolFixture } from './support/upstream-pool.js';

let fixture: PoolFixture;
afterEach(() => fixture.close());

describe('A call on a pooled connection', () => {
  it('gives the result as it came, after one tools/call', async () => {
    fixture = await poolFixture();
    const call = fixture.call('echo', { a: [1, 'ü'] });
    expect(await call.outcome).toEqual({
      kind: 'result',
      result: { ...textResult('{"a":[1,"ü"]}'), structuredContent: { a: [1, 'ü'] } },
    });
    expect(fixture.upstream.calls).toHaveLength(1);
  });

  it('sends arguments with keys that objects have by nature', async () => {
    fixture = await poolFixture();
    const text = '{"constructor":{"a":1},"__proto__":{"b":2},"toString":null}';
    await fixture.call('echo', JSON.parse(text) as Record<string, unknown>).outcome;
    expect(JSON.stringify(fixture.upstream.calls[0]?.arguments)).toBe(text);
  });

  it('tells progress while it runs', async () => {
    fixture = await poolFixture();
    await fixture.call('slow', { ms: 30, steps: 3 }).outcome;
    expect(fixture.progress.at(-1)).toEqual({ progress: 3, total: 3, message: 'step 3' });
  });

  it('tells no progress after the end, also of a result that looks like a task', async () => {
    const contexts: ToolContext[] = [];
    const taskLike = { task: { taskId: 't', status: 'working' } };
    fixture = await poolFixture({
      tools: {
        early: (_args, context) => (contexts.push(context), taskLike),
        late: (_args, context) => (contexts.push(context), context.gate('late')),
      },
    });
    expect(await fixture.call('early').outcome).toEqual({ kind: 'result', result: taskLike });
    const late = fixture.call('late');
    await fixture.upstream.until(
      () => contexts.length === 2 && fixture.upstream.openStreams('GET') === 1,
    );
    await contexts[0]?.strayProgress(1);
    await contexts[1]?.strayProgress(2);
    await fixture.untilProgress();
    expect(fixture.progress).toEqual([{ progress: 2 }]);
    fixture.upstream.release('late');
    await late.outcome;
  });

  it('keeps unknown content types, _meta, structuredContent, NUL, lone surrogates and 1 MB of text', async () => {
    const result = {
      _meta: { 'example.com/any': { deep: [null, true] }, progressToken: 7 },
      content: [
        { type: 'hologram', data: { x: 1 }, annotations: { audience: ['nobody'] } },
        { type: 'text', text: `\u0000 \ud800 \udfff 😀 ${'x'.repeat(1_000_000)}` },
        'not even an object',
      ],
      structuredContent: ['an', 'array'],
      isError: false,
      unheardOf: { task: null },
    };
    fixture = await poolFixture({ tools: { odd: () => result } });
    expect(await fixture.call('odd').outcome).toEqual({ kind: 'result', result });
  });

  it('calls tools whose names hold slashes, spaces and percent signs', async () => {
    fixture = await poolFixture({ tools: { 'files/read me%2F': () => textResult('read') } });
    const call = fixture.call('files/read me%2F');
    expect(await call.outcome).toEqual({ kind: 'result', result: textResult('read') });
  });

  it('tells the message of a JSON-RPC error as the upstream wrote it', async () => {
    fixture = await poolFixture();
    expect(await fixture.call('no-such-tool').outcome).toEqual({
      kind: 'error',
      code: 'upstream_error',
      message: 'Unknown tool: no-such-tool',
      outcomeUnknown: false,
    });
  });

  it('sends the headers of the server and no others of its own making', async () => {
    fixture = await poolFixture();
    fixture.server = { ...fixture.server, headers: { 'X-Api-Key': 'secret' } };
    await fixture.call('echo').outcome;
    expect(fixture.upstream.headers.map((headers) => headers['x-api-key'])).toContain('secret');
    expect(new Set(fixture.upstream.headers.map((headers) => headers['x-api-key']))).toHaveProperty(
      'size',
      1,
    );
  });
});

/** Limits as undici has them by default, but 1 s instead of 300 s. */
class ImpatientHttp extends OutboundHttp {
  protected override createDispatcher(): Dispatcher {
    return new Agent({ headersTimeout: 1_000, bodyTimeout: 1_000 });
  }
}

describe.each([
  { mode: 'stream', jsonMode: false },
  { mode: 'JSON', jsonMode: true },
])('A silent upstream in $mode mode', ({ jsonMode }) => {
  it('is waited for longer than a dispatcher with limits would', async () => {
    fixture = await poolFixture({ jsonMode }, new ImpatientHttp(LOOPBACK));
    const limited = await fixture.call('slow', { ms: 2_600 }).outcome;
    expect(limited).toMatchObject({ kind: 'error', code: 'upstream_lost', outcomeUnknown: true });
    await fixture.close();

    fixture = await poolFixture({ jsonMode });
    const unlimited = await fixture.call('slow', { ms: 2_600 }).outcome;
    expect(unlimited).toMatchObject({ kind: 'result' });
  });
});
