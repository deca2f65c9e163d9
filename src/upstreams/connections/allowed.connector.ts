import type { HttpMcpServer, McpServer, Sharing, UnopenedSecret } from '../mcp-server.js';
import { CommandNotAllowedError, StdioCommands } from '../registration/stdio-commands.js';
import { UpstreamFailure } from '../upstream-failure.js';
import type { UpstreamReference } from '../upstream-call.js';
import { UpstreamConnector, type UpstreamSession } from '../upstream-session.js';

/**
 * The only way to a connection: a program that the operator does not allow any more is not started,
 * whatever the database says, and nothing is asked without a secret that could not be opened.
 */
export class AllowedConnector extends UpstreamConnector {
  constructor(
    private readonly commands: StdioCommands,
    private readonly connector: UpstreamConnector,
  ) {
    super();
  }

  async connect(server: McpServer, use: Sharing, signal: AbortSignal): Promise<UpstreamSession> {
    this.check(server);
    return this.connector.connect(server, use, signal);
  }

  async attach(server: HttpMcpServer, reference: UpstreamReference): Promise<UpstreamSession> {
    this.check(server);
    return this.connector.attach(server, reference);
  }

  private check(server: McpServer): void {
    if (!this.commands.allows(server))
      throw new UpstreamFailure('upstream_unreachable', new CommandNotAllowedError().message);
    const [missing] = server.unopened ?? [];
    if (missing !== undefined) throw new UpstreamFailure('upstream_unreachable', toText(missing));
  }
}

function toText({ field, name, why }: UnopenedSecret): string {
  const what = field === 'headers' ? 'header' : 'variable';
  return `The value of the ${what} ${name} can't be opened: ${why}. Set it again, or mend the keys.`;
}
