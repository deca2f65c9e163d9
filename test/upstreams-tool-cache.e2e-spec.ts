import { afterEach, describe, expect, it } from '@jest/globals';
import { OutboundHttp } from '../src/outbound/outbound-http.js';
import type { ToolLists } from '../src/upstreams/tools/tool-lists.js';
import { McpTestServer } from './support/mcp-server.js';
import { MovedClock } from './support/moved-clock.js';
import { aPool, aServer, LOOPBACK, PoolFixture, settingsOf } from './support/upstream-pool.js';

const aTool = (name: string): Record<string, unknown> => ({
  name,
  inputSchema: { type: 'object' },
});
const TWO_PAGES = [[aTool('a')], [aTool('b')]];

class ToolFixture extends PoolFixture {
  readonly clock = new MovedClock();
  override readonly pool = aPool(this.http, settingsOf(), undefined, this.clock);

  static async start(options: Parameters<typeof McpTestServer.start>[0]): Promise<ToolFixture> {
    return new ToolFixture(await McpTestServer.start(options), new OutboundHttp(LOOPBACK));
  }

  /** What calls go by, which ask for it where needed. */
  get lists(): ToolLists {
    return Reflect.get(this.pool, 'tools') as ToolLists;
  }

  async known(): Promise<string[]> {
    return (await this.lists.get(this.server)).tools.map(({ name }) => name);
  }
}

let fixture: ToolFixture;
afterEach(() => fixture.close());

describe('What is known of the tools of a server', () => {
  it('is asked once, however many want to know it at once, and kept', async () => {
    fixture = await ToolFixture.start({ toolPages: TWO_PAGES });
    const known = await Promise.all([fixture.known(), fixture.known(), fixture.known()]);
    expect(known).toEqual([1, 2, 3].map(() => ['a', 'b']));
    expect(await fixture.known()).toEqual(['a', 'b']);
    expect(fixture.upstream.lists).toBe(2);
  });

  it('is asked again when the server says that its tools changed', async () => {
    fixture = await ToolFixture.start({ toolPages: TWO_PAGES });
    await fixture.known();
    // What the server says of itself comes on the stream of the session.
    await fixture.upstream.until(() => fixture.upstream.openStreams('GET') === 1);
    await fixture.upstream.changeTools([[aTool('c')]]);
    let names: string[] = [];
    await fixture.upstream.until(() => {
      void fixture.known().then((known) => (names = known));
      return names.includes('c');
    });
    expect(fixture.upstream.lists).toBe(3);
  });

  it('is asked again after 5 minutes, not before', async () => {
    fixture = await ToolFixture.start({ toolPages: [[aTool('a')]] });
    await fixture.known();
    fixture.clock.aheadMs = 299_000;
    await fixture.known();
    expect(fixture.upstream.lists).toBe(1);
    fixture.clock.aheadMs = 300_001;
    await fixture.known();
    expect(fixture.upstream.lists).toBe(2);
  });

  it('is asked again of a server that was connected to anew', async () => {
    fixture = await ToolFixture.start({ toolPages: [[aTool('a')]] });
    await fixture.known();
    await fixture.upstream.forgetSessions();
    await fixture.call('echo').outcome;
    await fixture.known();
    expect(fixture.upstream.lists).toBe(2);
  });

  it('is not shared by servers that are configured differently', async () => {
    fixture = await ToolFixture.start({ toolPages: [[aTool('a')]] });
    await fixture.known();
    await fixture.lists.get(aServer({ url: fixture.server.url, headers: { 'x-user': 'b' } }));
    expect(fixture.upstream.lists).toBe(2);
  });

  it('is not kept when the list could not be read', async () => {
    let isBroken = true;
    fixture = await ToolFixture.start({
      toolPages: [[aTool('a')]],
      intercept: (_request, response, body) => {
        if (!isBroken || !body.includes('"tools/list"')) return false;
        response.writeHead(500).end();
        return true;
      },
    });
    await expect(fixture.known()).rejects.toMatchObject({ code: 'upstream_lost' });
    isBroken = false;
    expect(await fixture.known()).toEqual(['a']);
  });

  it('is always asked anew for whoever wants the list itself', async () => {
    fixture = await ToolFixture.start({ toolPages: [[aTool('a')]] });
    await fixture.known();
    await fixture.pool.listTools(fixture.server);
    expect(fixture.upstream.lists).toBe(2);
  });

  it('is not asked because of a call when the server runs no tasks', async () => {
    fixture = await ToolFixture.start({});
    expect(await fixture.call('echo').outcome).toMatchObject({ kind: 'result' });
    expect(fixture.upstream.lists).toBe(0);
  });
});
