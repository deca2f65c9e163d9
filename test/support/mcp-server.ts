import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server as SdkServer } from '@modelcontextprotocol/sdk/server/index.js';
import {
  type EventStore,
  StreamableHTTPServerTransport,
} from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import type { TestTasks } from './test-tasks.js';
import { type Json, type ToolContext, type ToolHandler, standardTools } from './mcp-tools.js';
import { requestsToClient } from './requests-to-client.js';

/** As older servers: on a stream comes nothing but messages, and so, for hours, nothing. */
const NO_KEEP_ALIVE = 0;

interface ReceivedCall {
  tool: string;
  /** The arguments as parsed from the request; own keys such as `__proto__` are kept. */
  arguments: Json;
  /** The body of the request as it came over the wire. */
  body: string;
}

export interface McpServerOptions {
  /** 0: any free port. A fixed one makes a restart at the same address possible. */
  port?: number;
  /** Where it listens; on the loopback address unless said otherwise. */
  host?: string;
  /** Added to the standard tools, or put in their place. */
  tools?: Record<string, ToolHandler>;
  /** Answer with one JSON body instead of a stream. */
  jsonMode?: boolean;
  eventStore?: EventStore;
  /** No sessions: it knows of a call only what comes on the connection of its request. */
  stateless?: boolean;
  /** Pages of `tools/list`; by default one page with every tool that there is. */
  toolPages?: Json[][];
  /** What it runs as MCP tasks, beside its other tools. */
  tasks?: TestTasks;
  /** Held back before it is answered. */
  delayInitialize?: () => Promise<void>;
  /** Held back before it is looked at. */
  delayCalls?: () => Promise<void>;
  /** Runs before a request is handled; answers true when it has answered by itself. */
  intercept?: (request: IncomingMessage, response: ServerResponse, body: string) => boolean;
}

/** A real MCP server (SDK, Streamable HTTP with sessions) that records what it sees. */
export class McpTestServer {
  /** Every `tools/call` request that came over the wire. */
  readonly calls: ReceivedCall[] = [];
  /** Headers of every request. */
  readonly headers: IncomingMessage['headers'][] = [];
  /** `notifications/cancelled` as received: request id and reason. */
  readonly cancelled: { requestId: unknown; reason: unknown }[] = [];
  /** Tools whose handler saw its signal abort, in order. */
  readonly aborted: string[] = [];
  /** What clients said that they can, by session. */
  readonly clientCapabilities: Json[] = [];
  /** How often `initialize` was asked. */
  initializes = 0;
  /** How often a session was ended by DELETE. */
  deletes = 0;
  /** The methods of all requests and notifications, in order. */
  readonly methods: string[] = [];
  /** How often a page of `tools/list` was asked. */
  lists = 0;
  private readonly sessions = new Map<string, StreamableHTTPServerTransport>();
  private readonly servers = new Set<SdkServer>();
  private readonly streams = new Map<ServerResponse, string>();
  private readonly gates = new Map<string, Json>();
  private readonly atGates = new Map<string, (result: Json) => void>();
  private readonly waiting = new Set<() => void>();

  private constructor(
    private readonly http: Server,
    private readonly options: McpServerOptions,
  ) {}

  /** Starts a server with the standard tools and these. */
  static async start(options: McpServerOptions = {}): Promise<McpTestServer> {
    const http = createServer();
    const server = new McpTestServer(http, options);
    http.on('request', (request, response) => {
      void server.serve(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      http.once('error', reject);
      http.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
    });
    return server;
  }

  get port(): number {
    return (this.http.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/mcp`;
  }

  /** Forgets what it has seen of calls; those that run go on. */
  forgetCalls(): void {
    this.calls.length = this.aborted.length = this.cancelled.length = 0;
  }

  /** Lets `gate {name}` answer: the call that waits now, or else the next one. */
  release(
    name: string,
    result: Json = { content: [{ type: 'text', text: `gate ${name}` }] },
  ): void {
    const pass = this.atGates.get(name);
    this.atGates.delete(name);
    if (pass === undefined) this.gates.set(name, result);
    else pass(result);
  }

  /** Waits until `condition` holds; looked at after each thing that happens here, and every 20 ms. */
  async until(condition: () => boolean, withinMs = 10_000): Promise<void> {
    const signal = AbortSignal.timeout(withinMs);
    while (!condition()) {
      if (signal.aborted) throw new Error(`not within ${withinMs} ms: ${condition.toString()}`);
      await this.nextChange(AbortSignal.any([signal, AbortSignal.timeout(20)]));
    }
  }

  async untilCalled(times: number): Promise<void> {
    await this.until(() => this.calls.length >= times);
  }

  /** Responses to requests of this method that are not over yet. */
  openStreams(method: string): number {
    return [...this.streams.values()].filter((one) => one === method).length;
  }

  /** Cuts the connections of responses to requests of this method; answers how many. */
  cutStreams(method: string): number {
    const cut = [...this.streams].filter(
      ([response, one]) => one === method && response.headersSent,
    );
    for (const [response] of cut) response.destroy();
    return cut.length;
  }

  /** Closes the connections on which nothing is asked, instead of keeping them for the next request. */
  closeIdleConnections(): void {
    this.http.closeIdleConnections();
  }

  /** Tells every session that there are other tools now. */
  async changeTools(pages: Json[][]): Promise<void> {
    this.options.toolPages = pages;
    await Promise.all([...this.servers].map((server) => server.sendToolListChanged()));
  }

  /** Forgets every session, as a restarted server does; calls in flight are cut. */
  async forgetSessions(): Promise<void> {
    const transports = [...this.sessions.values()];
    this.sessions.clear();
    await Promise.all(transports.map((transport) => transport.close()));
  }

  /** Cuts every connection and stops listening, as a killed process does. */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.http.close(() => resolve()));
    this.http.closeAllConnections();
    await this.forgetSessions();
    this.options.tasks?.vanish();
    await closed;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    this.headers.push(request.headers);
    if (request.method === 'DELETE') this.deletes += 1;
    const message = body === '' ? undefined : (JSON.parse(body) as Json);
    if (message !== undefined) this.record(message, body);
    if (message?.method === 'initialize') await this.options.delayInitialize?.();
    if (message?.method === 'tools/call') await this.options.delayCalls?.();
    this.streams.set(response, (message?.method ?? request.method) as string);
    response.on('close', () => {
      this.streams.delete(response);
      this.changed();
    });
    if (this.options.intercept?.(request, response, body) === true) return;
    const transport = await (this.options.stateless === true
      ? this.transportOf(response)
      : this.transportFor(request, message));
    if (transport === undefined) return refuseSession(response);
    await transport.handleRequest(request, response, message);
  }

  private record(message: Json, body: string): void {
    const params = (message.params ?? {}) as Json;
    if (message.method === 'initialize') {
      this.initializes += 1;
      this.clientCapabilities.push(params.capabilities as Json);
    }
    this.methods.push(String(message.method));
    if (message.method === 'tools/list') this.lists += 1;
    if (message.method === 'notifications/cancelled')
      this.cancelled.push({ requestId: params.requestId, reason: params.reason });
    if (message.method === 'tools/call')
      this.calls.push({ tool: String(params.name), arguments: params.arguments as Json, body });
    this.changed();
  }

  private async transportFor(
    request: IncomingMessage,
    message: Json | undefined,
  ): Promise<StreamableHTTPServerTransport | undefined> {
    if (message?.method !== 'initialize')
      return this.sessions.get(String(request.headers['mcp-session-id']));
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      keepAliveMs: NO_KEEP_ALIVE,
      enableJsonResponse: this.options.jsonMode ?? false,
      eventStore: this.options.eventStore,
      onsessioninitialized: (id) => void this.sessions.set(id, transport),
      onsessionclosed: (id) => void this.sessions.delete(id),
    });
    await this.newSdkServer().connect(transport);
    return transport;
  }

  /** For one request alone, whose handler is aborted when its connection is closed. */
  private async transportOf(response: ServerResponse): Promise<StreamableHTTPServerTransport> {
    const server = this.newSdkServer();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: undefined,
      keepAliveMs: NO_KEEP_ALIVE,
      enableJsonResponse: this.options.jsonMode ?? false,
    });
    response.on('close', () => {
      this.servers.delete(server);
      void server.close();
    });
    await server.connect(transport);
    return transport;
  }

  /** Handlers are the fallback ones: the SDK would refuse results that are not to its liking. */
  private newSdkServer(): SdkServer {
    const server = new SdkServer(
      { name: 'test', version: '1' },
      {
        capabilities: { tools: { listChanged: true }, ...this.options.tasks?.capabilities },
        taskStore: this.options.tasks?.store,
        taskMessageQueue: this.options.tasks?.queue,
      },
    );
    server.onerror = () => undefined;
    this.servers.add(server);
    server.fallbackRequestHandler = async (request, extra) => {
      const params = (request.params ?? {}) as Json;
      if (request.method === 'tools/list')
        return this.toolPage(params.cursor as string | undefined);
      if (request.method !== 'tools/call') throw new McpError(-32601, 'Method not found');
      if (params.task !== undefined && this.options.tasks !== undefined)
        return this.options.tasks.begin(params, extra);
      const token = extra._meta?.progressToken;
      return this.run(String(params.name), (params.arguments ?? {}) as Json, {
        signal: extra.signal,
        gate: (name) => this.passGate(name, extra.signal),
        ...requestsToClient(server, extra),
        strayProgress: (progress) =>
          server.notification({
            method: 'notifications/progress',
            params: { progressToken: token, progress },
          }),
        progress: async (progress, total, message) => {
          if (token === undefined) return;
          const notice = { progressToken: token, progress, total, message };
          await extra.sendNotification({ method: 'notifications/progress', params: notice });
        },
      });
    };
    return server;
  }

  private async run(tool: string, args: Json, context: ToolContext): Promise<Json> {
    const handler = { ...standardTools, ...this.options.tools }[tool];
    if (handler === undefined) throw new McpError(-32602, `Unknown tool: ${tool}`);
    context.signal.addEventListener('abort', () => {
      this.aborted.push(tool);
      this.changed();
    });
    return handler(args, context);
  }

  private toolPage(cursor: string | undefined): Json {
    const plain = Object.keys({ ...standardTools, ...this.options.tools }).map((name): Json => ({
      name,
      inputSchema: { type: 'object' },
    }));
    const pages = this.options.toolPages ?? [[...plain, ...(this.options.tasks?.tools ?? [])]];
    const index = Number(cursor ?? 0);
    const nextCursor = index + 1 < pages.length ? { nextCursor: String(index + 1) } : {};
    return { tools: pages[index] ?? [], ...nextCursor };
  }

  private passGate(name: string, signal: AbortSignal): Promise<Json> {
    const released = this.gates.get(name);
    this.gates.delete(name);
    if (released !== undefined) return Promise.resolve(released);
    return new Promise((resolve, reject) => {
      this.atGates.set(name, resolve);
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  }

  private nextChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const resume = (): void => {
        signal.removeEventListener('abort', resume);
        this.waiting.delete(resume);
        resolve();
      };
      signal.addEventListener('abort', resume);
      this.waiting.add(resume);
    });
  }

  private changed(): void {
    for (const resume of [...this.waiting]) resume();
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function refuseSession(response: ServerResponse): void {
  const error = { code: -32001, message: 'Session not found' };
  response.writeHead(404, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
}
