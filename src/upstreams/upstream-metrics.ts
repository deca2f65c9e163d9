import { Injectable } from '@nestjs/common';
import { MetricsRegistry } from '../metrics/metrics.registry.js';
import { McpServerDirectory } from './registration/mcp-server.directory.js';
import type { StoredState } from './reachability/server-state.js';
import { ServerStates } from './reachability/server-states.js';

/** Which MCP servers are reachable, as this process knows it; servers that were never tried are left out. */
@Injectable()
export class UpstreamMetrics {
  /** Names of the enabled servers by id. */
  private names: ReadonlyMap<string, string> = new Map();
  private states: ReadonlyMap<string, StoredState> = new Map();

  constructor(registry: MetricsRegistry, directory: McpServerDirectory, states: ServerStates) {
    directory.onChange((servers) => {
      const enabled = servers.filter((server) => server.enabled);
      this.names = new Map(enabled.map(({ id, name }) => [id, name]));
    });
    states.onChange((seen) => (this.states = seen));
    const reachable = (): [string, boolean][] => this.reachable();
    registry.gauge({
      name: 'bgc_upstream_reachable',
      help: 'Whether an enabled MCP server could be reached at the last try of any replica',
      labelNames: ['server'],
      collect() {
        this.reset();
        for (const [server, isReachable] of reachable()) this.set({ server }, isReachable ? 1 : 0);
      },
    });
  }

  private reachable(): [string, boolean][] {
    return [...this.states].flatMap(([id, state]): [string, boolean][] => {
      const name = this.names.get(id);
      return name === undefined ? [] : [[name, state.reachable]];
    });
  }
}
