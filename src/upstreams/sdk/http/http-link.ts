import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OutboundHttp } from '../../../outbound/outbound-http.js';
import type { HttpMcpServer } from '../../mcp-server.js';
import type { UpstreamFailure } from '../../upstream-failure.js';
import type { SdkLink } from '../sdk-link.js';
import { HttpExchange, MAX_RESUMES } from './http-exchange.js';
import { currentScope, scopedFetch } from './request-scope.js';

const RECONNECTION = {
  initialReconnectionDelay: 300,
  reconnectionDelayGrowFactor: 2,
  maxReconnectionDelay: 5_000,
  maxRetries: MAX_RESUMES,
};

/** Streamable HTTP: each request has an HTTP exchange of its own, so that no loss is everybody's. */
export class HttpLink implements SdkLink {
  readonly transport: StreamableHTTPClientTransport;
  readonly brokenBecause = undefined;
  readonly lastWords = undefined;

  constructor(
    server: HttpMcpServer,
    private readonly http: OutboundHttp,
  ) {
    this.transport = new StreamableHTTPClientTransport(new URL(server.url), {
      fetch: scopedFetch(http),
      requestInit: { headers: server.headers },
      reconnectionOptions: RECONNECTION,
    });
    this.transport.onerror = (error) => currentScope()?.failed(error);
  }

  get protocolVersion(): string | undefined {
    return this.transport.protocolVersion;
  }

  exchange(onLost: (failure: UpstreamFailure) => void): HttpExchange {
    const hasSession = this.transport.sessionId !== undefined;
    return new HttpExchange(this.http, hasSession, onLost);
  }

  forget(): Promise<void> {
    return this.transport.terminateSession();
  }
}
