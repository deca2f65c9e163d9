import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createDemoMcpServer } from './demo-tools.js';

const PATH = '/mcp';

/** A real MCP server (Streamable HTTP, with sessions) on a free loopback port of this process. */
export class DemoUpstream {
  private readonly sessions = new Map<string, StreamableHTTPServerTransport>();

  private constructor(private readonly http: Server) {}

  static async start(): Promise<DemoUpstream> {
    const http = createServer();
    const demo = new DemoUpstream(http);
    http.on('request', (request, response) => {
      demo.serve(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      http.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    return demo;
  }

  get url(): string {
    return `http://${this.host}${PATH}`;
  }

  /** Ends calls and connections. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.http.close(resolve));
    await Promise.all([...this.sessions.values()].map((session) => session.close()));
    this.http.closeAllConnections();
    await closed;
  }

  private get host(): string {
    return `127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers['mcp-session-id'];
    const session = id === undefined ? await this.open() : this.sessions.get(String(id));
    if (request.url !== PATH || session === undefined) {
      response.writeHead(404).end();
      return;
    }
    await session.handleRequest(request, response);
  }

  /** Becomes a session when the request turns out to be `initialize`; the SDK refuses any other. */
  private async open(): Promise<StreamableHTTPServerTransport> {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.sessions.set(id, transport),
      onsessionclosed: (id) => void this.sessions.delete(id),
      // A web page must not reach the demo by a name of its own that leads to this machine.
      enableDnsRebindingProtection: true,
      allowedHosts: [this.host],
    });
    await createDemoMcpServer().connect(transport);
    return transport;
  }
}
