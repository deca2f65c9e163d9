import { Injectable } from '@nestjs/common';
import { Configuration } from '../../config/environment.js';
import { OutboundHttp } from '../../outbound/outbound-http.js';
import type { HttpMcpServer, McpServer, Sharing } from '../mcp-server.js';
import type { UpstreamReference } from '../upstream-call.js';
import { UpstreamFailure } from '../upstream-failure.js';
import { UpstreamConnector, type UpstreamSession } from '../upstream-session.js';
import { HttpLink } from './http/http-link.js';
import { toConnectFailure, unreachable } from './sdk-failure.js';
import type { SdkLink } from './sdk-link.js';
import { SdkSession } from './sdk-session.js';
import { SseTransport } from './sse/sse-transport.js';
import { ProgramStarter } from './stdio/program-starter.js';
import { StdioTransport } from './stdio/stdio-transport.js';
import { UpstreamClient } from './upstream-client.js';

/** Opens sessions over every transport that the SDK of the 1.x line knows. */
@Injectable()
export class SdkConnector extends UpstreamConnector {
  protected readonly connectMs: number = 10_000;
  /** A program may be fetched from a registry before it is started. */
  protected readonly startMs: number = 30_000;

  constructor(
    private readonly http: OutboundHttp,
    private readonly configuration: Configuration,
    private readonly programs: ProgramStarter,
  ) {
    super();
  }

  async connect(server: McpServer, use: Sharing, signal: AbortSignal): Promise<UpstreamSession> {
    const link = this.linkTo(server);
    // On a shared session nobody could tell whose question it is.
    const isShared = use === 'shared';
    const client = new UpstreamClient(isShared ? {} : { elicitation: {} });
    const limitMs = server.transport === 'stdio' ? this.startMs : this.connectMs;
    await initialize(client, link, limitMs, signal);
    return new SdkSession(client, link, { isShared, isForeign: false });
  }

  async attach(server: HttpMcpServer, reference: UpstreamReference): Promise<UpstreamSession> {
    const link = new HttpLink(server, this.http, reference);
    const client = new UpstreamClient({});
    const requestId = reference.kind === 'stream' ? reference.requestId : undefined;
    await client.attach(link.transport, requestId);
    return new SdkSession(client, link, { isShared: true, isForeign: true });
  }

  private linkTo(server: McpServer): SdkLink {
    switch (server.transport) {
      case 'http':
        return new HttpLink(server, this.http);
      case 'sse':
        return new SseTransport(server, this.http);
      case 'stdio':
        return new StdioTransport(server, this.configuration.inheritedEnvironment, this.programs);
    }
  }
}

/** Leaves nothing open when it fails. @throws UpstreamFailure `upstream_unreachable` */
async function initialize(
  client: UpstreamClient,
  link: SdkLink,
  limitMs: number,
  signal: AbortSignal,
): Promise<void> {
  let isLate = false;
  const giveUp = (): void => void link.transport.close();
  const limit = setTimeout(() => {
    isLate = true;
    giveUp();
  }, limitMs);
  signal.addEventListener('abort', giveUp);
  try {
    signal.throwIfAborted();
    await link.begin(() => client.connect(link.transport));
  } catch (error) {
    await link.transport.close();
    if (isLate) throw noAnswer(limitMs, link.lastWords);
    throw link.brokenBecause === undefined
      ? toConnectFailure(error)
      : unreachable(link.brokenBecause);
  } finally {
    clearTimeout(limit);
    signal.removeEventListener('abort', giveUp);
  }
}

function noAnswer(limitMs: number, lastWords: string | undefined): UpstreamFailure {
  const end = lastWords === undefined ? '.' : `: ${lastWords}`;
  return new UpstreamFailure('upstream_unreachable', `No answer within ${limitMs} ms${end}`);
}
