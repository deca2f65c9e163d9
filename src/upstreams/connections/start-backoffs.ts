import type { Clock } from '../../common/clock.js';
import { connectionKey, type McpServer } from '../mcp-server.js';
import { StartBackoff } from './start-backoff.js';
import type { UpstreamFailure } from '../upstream-failure.js';

/**
 * Which servers fail to start, each as it is configured. Programs only: to ask a server over HTTP
 * once more costs little, and it may be up again at any time.
 */
export class StartBackoffs {
  private readonly byKey = new Map<string, StartBackoff>();

  constructor(private readonly clock: Clock) {}

  /** Takes the outcome of a start; one that worked ends the waiting. */
  tried(server: McpServer, failure: UpstreamFailure | undefined): void {
    const key = connectionKey(server);
    if (failure === undefined) this.byKey.delete(key);
    if (failure === undefined || server.transport !== 'stdio') return;
    const backoff = this.byKey.get(key) ?? new StartBackoff(this.clock);
    this.byKey.set(key, backoff);
    backoff.failed(failure);
  }

  /** @throws UpstreamFailure `upstream_unreachable` while no start shall be tried. */
  check(server: McpServer): void {
    this.byKey.get(connectionKey(server))?.check();
  }

  /** Lets the next start be tried at once; what failed before still counts. */
  tryNow(server: McpServer): void {
    this.byKey.get(connectionKey(server))?.release();
  }

  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.byKey.keys()) if (!keys.has(key)) this.byKey.delete(key);
  }
}
