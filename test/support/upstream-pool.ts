import { type Clock, SystemClock } from '../../src/common/clock.js';
import { Logger } from '../../src/common/logger.js';
import { type Configuration, readEnvironment } from '../../src/config/environment.js';
import { OutboundHttp } from '../../src/outbound/outbound-http.js';
import { OutboundPolicy } from '../../src/outbound/outbound-policy.js';
import type { Settings } from '../../src/settings/settings.js';
import { DEFAULT_SETTINGS } from '../../src/settings/settings-tree.js';
import type { HttpMcpServer } from '../../src/upstreams/mcp-server.js';
import { SdkConnector } from '../../src/upstreams/sdk/sdk-connector.js';
import { ProgramStarter } from '../../src/upstreams/sdk/stdio/program-starter.js';
import type { UpstreamCall, UpstreamProgress } from '../../src/upstreams/upstream-call.js';
import { UpstreamPool } from '../../src/upstreams/upstream-pool.js';
import type { UpstreamConnector } from '../../src/upstreams/upstream-session.js';
import { type McpServerOptions, McpTestServer } from './mcp-server.js';
import { aListener, aToolRequest } from './upstream-call.js';

/** Where the test servers listen. */
export const LOOPBACK = new OutboundPolicy(['127.0.0.1']);

/** A registered server as it is in memory. */
export function aServer(fields: Partial<HttpMcpServer> & { url: string }): HttpMcpServer {
  return {
    id: '01890a5d-ac96-774b-bcce-b302099a8057',
    name: 'test',
    title: 'Test',
    transport: 'http',
    headers: {},
    enabled: true,
    sharing: 'shared',
    ...fields,
  };
}

/** What a service gets that was started from here. */
export const CONFIGURATION = readEnvironment({ PATH: process.env.PATH, HOME: process.env.HOME });

/** Settings that a test may change at any time. */
export type PoolSettings = Pick<Settings, 'current'>;

export function settingsOf(): PoolSettings {
  return { current: structuredClone(DEFAULT_SETTINGS) };
}

export const PROGRAMS = new ProgramStarter(Logger.create('silent'));

export function aConnector(
  http: OutboundHttp,
  configuration: Configuration = CONFIGURATION,
): SdkConnector {
  return new SdkConnector(http, configuration, PROGRAMS);
}

/** A pool without the rest of the service. */
export function aPool(
  http: OutboundHttp,
  settings: PoolSettings = settingsOf(),
  connector: UpstreamConnector = aConnector(http),
  clock: Clock = new SystemClock(),
): UpstreamPool {
  return new UpstreamPool(connector, settings as Settings, clock);
}

/** A pool and one upstream, without the rest of the service. */
export class PoolFixture {
  readonly pool: UpstreamPool;
  readonly progress: UpstreamProgress[] = [];
  server: HttpMcpServer;

  readonly settings = settingsOf();

  constructor(
    public upstream: McpTestServer,
    readonly http: OutboundHttp,
  ) {
    this.pool = aPool(http, this.settings);
    this.server = aServer({ url: upstream.url });
  }

  call(tool: string, args: Record<string, unknown> = {}): UpstreamCall {
    const onProgress = (one: UpstreamProgress): void => void this.progress.push(one);
    return this.pool.call(this.server, aToolRequest(tool, args), aListener({ onProgress }));
  }

  async untilProgress(): Promise<void> {
    await this.upstream.until(() => this.progress.length > 0);
  }

  async close(): Promise<void> {
    await this.pool.onApplicationShutdown();
    await this.http.onApplicationShutdown();
    await this.upstream.stop();
  }
}

export async function poolFixture(
  options: McpServerOptions = {},
  http: OutboundHttp = new OutboundHttp(LOOPBACK),
): Promise<PoolFixture> {
  return new PoolFixture(await McpTestServer.start(options), http);
}
