import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { outsideRequestContext } from '../../common/request-context.js';
import { within } from '../../common/within.js';
import type { McpServer } from '../mcp-server.js';
import { McpServerService } from '../registration/mcp-server.service.js';
import { maskFailure } from '../connections/masked-call.js';
import { type SecretMask, secretMask } from '../connections/secret-mask.js';
import { ServerProber } from './server-prober.js';
import { StdioCommands } from '../registration/stdio-commands.js';
import { walkToolList } from '../tools/tool-list.js';
import { UpstreamFailure } from '../upstream-failure.js';
import {
  type UpstreamAbout,
  UpstreamConnector,
  type UpstreamSession,
} from '../upstream-session.js';

/** Together less than 15 s. */
const ANSWER_MS = 12_000;
const WRITE_MS = 500;
const CLOSE_MS = 2_000;

export type ServerTest = { durationMs: number } & (
  | { reachable: true; about: UpstreamAbout; toolCount: number }
  | { reachable: false; failure: UpstreamFailure }
);

/** Tries a server out as it is stored: on a connection of its own, which is closed afterwards. */
@Injectable()
export class ServerTester {
  constructor(
    private readonly servers: McpServerService,
    private readonly commands: StdioCommands,
    private readonly connector: UpstreamConnector,
    private readonly prober: ServerProber,
    private readonly clock: Clock,
  ) {}

  /**
   * Answers within 15 s, also for a disabled server. Whether it could be connected to is written down
   * as what was seen last.
   * @throws NotFoundError
   * @throws CommandNotAllowedError
   */
  async test(id: string): Promise<ServerTest> {
    const server = await this.servers.get(id);
    this.commands.assertAllows(server);
    const startedMs = this.clock.monotonicMs();
    const durationMs = (): number => Math.round(this.clock.monotonicMs() - startedMs);
    try {
      const { about, toolCount } = await outsideRequestContext(() => this.tryOut(server));
      return { reachable: true, durationMs: durationMs(), about, toolCount };
    } catch (failure) {
      if (!(failure instanceof UpstreamFailure)) throw failure;
      return { reachable: false, durationMs: durationMs(), failure };
    }
  }

  private async tryOut(server: McpServer): Promise<{ about: UpstreamAbout; toolCount: number }> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), ANSWER_MS);
    const mask = secretMask(server);
    const connecting = maskFailure(this.connector.connect(server, 'shared', limit.signal), mask);
    try {
      const session = await this.connected(server, connecting, limit.signal);
      const listing = walkToolList((cursor) => session.listTools(cursor));
      const { tools } = await beforeAbort(limit.signal, maskFailure(listing, mask));
      return { about: maskedAbout(session.about, mask), toolCount: tools.length };
    } finally {
      clearTimeout(timer);
      await within(CLOSE_MS, forget(connecting));
    }
  }

  /** Writes down what came of it. @throws UpstreamFailure */
  private async connected(
    server: McpServer,
    connecting: Promise<UpstreamSession>,
    limit: AbortSignal,
  ): Promise<UpstreamSession> {
    try {
      const session = await beforeAbort(limit, connecting);
      await within(WRITE_MS, this.prober.checked(server, undefined));
      return session;
    } catch (error) {
      if (error instanceof UpstreamFailure)
        await within(WRITE_MS, this.prober.checked(server, error));
      throw error;
    }
  }
}

function maskedAbout(about: UpstreamAbout, mask: SecretMask): UpstreamAbout {
  const { name, version, protocolVersion, instructions } = about;
  return {
    name: mask(name),
    version: mask(version),
    protocolVersion,
    instructions: instructions && mask(instructions),
  };
}

/** Also of a connection that comes too late. */
async function forget(connecting: Promise<UpstreamSession>): Promise<void> {
  const session = await connecting.catch(() => undefined);
  await session?.close({ forget: true });
}

/** What goes on after the limit ends with the session. */
async function beforeAbort<T>(limit: AbortSignal, work: Promise<T>): Promise<T> {
  const isLate = new Promise<never>((_, reject) => {
    limit.addEventListener('abort', () => reject(tooSlow()));
    if (limit.aborted) reject(tooSlow());
  });
  return Promise.race([work, isLate]);
}

function tooSlow(): UpstreamFailure {
  return new UpstreamFailure('upstream_unreachable', `No answer within ${ANSWER_MS} ms.`);
}
