import { Injectable } from '@nestjs/common';
import { DomainError } from '../../common/domain-error.js';
import { Configuration } from '../../config/environment.js';
import type { McpServerFields } from './mcp-server.row.js';

/** A program that the operator does not allow is to be started; an administrator can't allow it. */
export class CommandNotAllowedError extends DomainError {
  readonly code = 'command_not_allowed';

  constructor() {
    const detail =
      'is not in BGC_STDIO_COMMANDS, the list of commands that the operator of this service allows';
    super(`The command ${detail}.`, { errors: [{ pointer: '/command', detail }] });
  }
}

/**
 * Which programs may be started as MCP servers: those that the operator named, letter for letter.
 * Registering a server through the API would otherwise let an administrator's key run anything here.
 */
@Injectable()
export class StdioCommands {
  private readonly allowed: ReadonlySet<string>;

  constructor(configuration: Configuration) {
    this.allowed = new Set(configuration.stdioCommands);
  }

  /** True for a server that starts no program. */
  allows(server: McpServerFields): boolean {
    return server.transport !== 'stdio' || this.allowed.has(server.command);
  }

  /** @throws CommandNotAllowedError */
  assertAllows(server: McpServerFields): void {
    if (!this.allows(server)) throw new CommandNotAllowedError();
  }
}
