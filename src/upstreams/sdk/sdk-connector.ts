import { Injectable } from '@nestjs/common';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { OutboundHttp } from '../../outbound/outbound-http.js';
import type { McpServer } from '../mcp-server.js';
import { UpstreamFailure } from '../upstream-failure.js';
import { UpstreamConnector, type UpstreamSession } from '../upstream-session.js';
import { MAX_RESUMES } from './call-exchange.js';
import { currentScope, scopedFetch } from './request-scope.js';
import { toConnectFailure } from './sdk-failure.js';
import { SdkSession } from './sdk-session.js';

const CLIENT = { name: 'background-calls', version: '0.1.0' };
const RECONNECTION = {
  initialReconnectionDelay: 300,
  reconnectionDelayGrowFactor: 2,
  maxReconnectionDelay: 5_000,
  maxRetries: MAX_RESUMES,
};

@Injectable()
export class SdkConnector extends UpstreamConnector {
  protected readonly connectMs: number = 10_000;

  constructor(private readonly http: OutboundHttp) {
    super();
  }

  async connect(server: McpServer): Promise<UpstreamSession> {
    if (server.transport !== 'http')
      throw new UpstreamFailure(
        'upstream_unreachable',
        `This service has no adapter for the transport ${server.transport}.`,
      );
    const transport = new StreamableHTTPClientTransport(new URL(server.url), {
      fetch: scopedFetch(this.http),
      requestInit: { headers: server.headers },
      reconnectionOptions: RECONNECTION,
    });
    // No capabilities: on a shared session nobody could tell whose question an elicitation is.
    const client = new Client(CLIENT, { capabilities: {} });
    client.onerror = (error) => currentScope()?.failed(error);
    await this.initialize(client, transport);
    return new SdkSession(client, transport, this.http);
  }

  private async initialize(
    client: Client,
    transport: StreamableHTTPClientTransport,
  ): Promise<void> {
    let isLate = false;
    const limit = setTimeout(() => {
      isLate = true;
      void client.close();
    }, this.connectMs);
    try {
      await client.connect(transport);
    } catch (error) {
      await client.close();
      throw isLate
        ? new UpstreamFailure('upstream_unreachable', `No answer within ${this.connectMs} ms.`)
        : toConnectFailure(error);
    } finally {
      clearTimeout(limit);
    }
  }
}
