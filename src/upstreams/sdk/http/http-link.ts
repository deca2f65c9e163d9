import type { OutboundHttp } from '../../../outbound/outbound-http.js';
import type { HttpMcpServer } from '../../mcp-server.js';
import type { UpstreamFailure } from '../../upstream-failure.js';
import type { SessionPlace, StreamReference } from '../../upstream-session.js';
import type { ExchangeOptions, SdkLink } from '../sdk-link.js';
import { HttpExchange, MAX_RESUMES } from './http-exchange.js';
import { InitializeScope } from './initialize-scope.js';
import { ResumableTransport } from './resumable-transport.js';
import { currentScope, inScope, scopedFetch } from './request-scope.js';

const RECONNECTION = {
  initialReconnectionDelay: 300,
  reconnectionDelayGrowFactor: 2,
  maxReconnectionDelay: 5_000,
  maxRetries: MAX_RESUMES,
};

/** Streamable HTTP: each request has an HTTP exchange of its own, so that no loss is everybody's. */
export class HttpLink implements SdkLink {
  readonly transport: ResumableTransport;
  readonly brokenBecause = undefined;
  readonly lastWords = undefined;

  constructor(
    private readonly server: HttpMcpServer,
    private readonly http: OutboundHttp,
    /** The session of another process; undefined: one of our own. */
    private readonly foreign?: SessionPlace,
  ) {
    this.transport = new ResumableTransport(new URL(server.url), {
      fetch: scopedFetch(http),
      requestInit: { headers: server.headers },
      reconnectionOptions: RECONNECTION,
      sessionId: foreign?.sessionId ?? undefined,
    });
    if (foreign !== undefined) this.transport.setProtocolVersion(foreign.protocolVersion);
    // The SDK calls it before its own.
    this.transport.onmessage = (message) => currentScope()?.received(message);
    this.transport.onerror = (error) => currentScope()?.failed(error);
  }

  get protocolVersion(): string | undefined {
    return this.transport.protocolVersion;
  }

  get place(): SessionPlace {
    const { sessionId = null, protocolVersion = '' } = this.transport;
    return { url: this.server.url, sessionId, protocolVersion };
  }

  exchange(
    onLost: (failure: UpstreamFailure) => void,
    onReference: (reference: StreamReference) => void,
    options: ExchangeOptions,
  ): HttpExchange {
    const hasSession = this.transport.sessionId !== undefined;
    const parts = { http: this.http, hasSession, ...options };
    return new HttpExchange(parts, onLost, (streamPlace) => {
      const { sessionId, ...place } = this.place;
      if (sessionId !== null) onReference({ kind: 'stream', ...place, sessionId, ...streamPlace });
    });
  }

  async begin(connect: () => Promise<void>): Promise<void> {
    const scope = new InitializeScope(this.http);
    try {
      await Promise.race([inScope(scope, connect), scope.unusable]);
    } finally {
      scope.end();
    }
  }

  /** The session of another process may carry more of its calls. */
  forget(): Promise<void> {
    if (this.foreign !== undefined) return Promise.resolve();
    return this.transport.terminateSession();
  }
}
