import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import type { McpServer } from '../src/upstreams/mcp-server.js';
import {
  type Held,
  heldByProcess,
  heldWhenQuiet,
  untilGivenBack,
} from './support/held-resources.js';
import { McpTestServer } from './support/mcp-server.js';
import { SseTestServer } from './support/sse-server.js';
import { StdioUpstream } from './support/stdio-upstream.js';
import { aListener, aToolRequest } from './support/upstream-call.js';
import { aConnector, aPool, aServer, LOOPBACK, settingsOf } from './support/upstream-pool.js';

const TIMES = 100;
const AT_ONCE = 5;

/** The servers over HTTP live in this process too: what they hold is counted with the rest. */
describe(`What ${TIMES} connections held`, () => {
  const http = new OutboundHttp(LOOPBACK);
  const connector = aConnector(http);
  const stdio = new StdioUpstream();
  let streamable: McpTestServer;
  let sse: SseTestServer;

  beforeAll(async () => {
    streamable = await McpTestServer.start();
    sse = await SseTestServer.start();
  });
  afterAll(async () => {
    await http.onApplicationShutdown();
    await streamable.stop();
    await sse.stop();
    stdio.remove();
  });

  it.each<[string, (n: number) => McpServer, (n: number) => void]>([
    ['Streamable HTTP', () => aServer({ url: streamable.url }), () => undefined],
    [
      'HTTP with SSE',
      () => aServer({ url: sse.url, transport: 'sse' }),
      (n) => n % 3 === 0 && sse.endStreams('destroy'),
    ],
    [
      'stdio',
      (n) => stdio.server(n % 5 === 0 ? 'fails' : 'well'),
      (n) => n % 3 === 0 && stdio.kill(),
    ],
  ])('is given back: %s', async (_, server, disturb) => {
    await connections(AT_ONCE);
    const before = await heldWhenQuiet(held);
    await connections(TIMES);
    await untilGivenBack(held, before);

    async function connections(count: number): Promise<void> {
      for (let done = 0; done < count; done += AT_ONCE)
        await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => connection(done + n + 1)));
    }

    /** With one call that is answered and one that is not; some end by themselves. */
    async function connection(n: number): Promise<void> {
      const pool = aPool(http, settingsOf(), connector);
      const ask = (tool: string): ReturnType<typeof pool.call> =>
        pool.call(server(n), aToolRequest(tool, { name: 'never' }), aListener());
      await ask('echo').outcome;
      const unanswered = ask(server(n).transport === 'stdio' ? 'never' : 'gate');
      disturb(n);
      if (n % 2 === 0) await unanswered.cancel('enough');
      await pool.onApplicationShutdown();
      expect(await unanswered.outcome).toMatchObject({ kind: 'error' });
    }
  });

  function held(): Held {
    const streams = streamable.openStreams('tools/call') + sse.open;
    return { ...heldByProcess(), streams };
  }
});
