import type { McpServer } from './mcp-server.js';
import { CommandNotAllowedError, StdioCommands } from './stdio-commands.js';
import { UpstreamFailure } from './upstream-failure.js';
import { UpstreamConnector, type UpstreamSession } from './upstream-session.js';

/**
 * The only way to a connection: a program that the operator does not allow any more is not started,
 * whatever the database says.
 */
export class AllowedConnector extends UpstreamConnector {
  constructor(
    private readonly commands: StdioCommands,
    private readonly connector: UpstreamConnector,
  ) {
    super();
  }

  async connect(server: McpServer, signal: AbortSignal): Promise<UpstreamSession> {
    if (!this.commands.allows(server))
      throw new UpstreamFailure('upstream_unreachable', new CommandNotAllowedError().message);
    return this.connector.connect(server, signal);
  }
}
