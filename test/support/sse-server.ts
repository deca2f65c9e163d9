import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server as SdkServer } from '@modelcontextprotocol/sdk/server/index.js';
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import { eventually } from './eventually.js';
import { type Json, standardTools } from './mcp-tools.js';
import { requestsToClient } from './requests-to-client.js';

export interface SseServerOptions {
  /** 0: any free port. A fixed one makes a restart at the same address possible. */
  port?: number;
  /** Where it listens; on the loopback address unless said otherwise. */
  host?: string;
  /** Runs before a request is handled; answers true when it has answered by itself. */
  intercept?: (request: IncomingMessage, response: ServerResponse, body: string) => boolean;
  /** A message is accepted only when it was answered, as some frameworks do. */
  acceptsLate?: boolean;
  /** How it says that it has taken a message. */
  accept?: (response: ServerResponse) => void;
}

interface Message {
  id?: number;
  method: string;
  params?: Record<string, any>;
}

/** A real MCP server (SDK, HTTP with SSE as of 2024-11-05) that records what it sees. */
export class SseTestServer {
  readonly messages: Message[] = [];
  /** Headers of the requests that open streams, and of those that bring messages. */
  readonly headers: { GET: IncomingMessage['headers'][]; POST: IncomingMessage['headers'][] } = {
    GET: [],
    POST: [],
  };
  /** Requests that are not over yet, streams among them. */
  open = 0;
  /** How many handlers saw their signal abort. */
  aborted = 0;
  private readonly sessions = new Map<string, SSEServerTransport>();
  private readonly streams = new Set<ServerResponse>();
  private readonly gates = new Map<string, (result: Json) => void>();
  private readonly unanswered = new Map<number, () => void>();

  private constructor(
    private readonly http: Server,
    private readonly options: SseServerOptions,
  ) {}

  static async start(options: SseServerOptions = {}): Promise<SseTestServer> {
    const http = createServer();
    const server = new SseTestServer(http, options);
    http.on('request', (request, response) => {
      void server.serve(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve, reject) => {
      http.once('error', reject).listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
    });
    return server;
  }

  get port(): number {
    return (this.http.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/sse`;
  }

  received(method: string): Message[] {
    return this.messages.filter((message) => message.method === method);
  }

  async untilReceived(method: string, times: number): Promise<void> {
    await eventually(method, () => this.received(method).length >= times);
  }

  /** Lets the call that waits at `gate {name}` answer. */
  release(name: string): void {
    this.gates.get(name)?.({ content: [{ type: 'text', text: `gate ${name}` }] });
  }

  /** Writes to every stream, as it stands. */
  write(text: string, onWritten: () => void = () => undefined): void {
    for (const stream of this.streams) stream.write(text, onWritten);
  }

  /** Ends every stream in order, or cuts its connection. */
  endStreams(how: 'end' | 'destroy'): void {
    for (const stream of this.streams) stream[how]();
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.http.close(() => resolve()));
    this.http.closeAllConnections();
    await closed;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    this.headers[request.method as 'GET' | 'POST'].push(request.headers);
    this.open += 1;
    response.on('close', () => (this.open -= 1));
    const message = body === '' ? undefined : (JSON.parse(body) as Message);
    if (message !== undefined) this.messages.push(message);
    if (this.options.intercept?.(request, response, body) === true) return;
    if (message === undefined) return this.openStream(response);
    const { searchParams } = new URL(request.url ?? '', this.url);
    const session = this.sessions.get(searchParams.get('sessionId') ?? '');
    if (session === undefined) return void response.writeHead(404).end('Session not found');
    if (this.options.accept !== undefined) {
      this.options.accept(response);
      return session.handleMessage(message);
    }
    if (this.options.acceptsLate !== true)
      return session.handlePostMessage(request, response, message);
    const answered = new Promise<void>((resolve) => {
      if (message.id === undefined) resolve();
      else this.unanswered.set(message.id, resolve);
    });
    await session.handleMessage(message);
    await answered;
    response.writeHead(202).end();
  }

  private async openStream(response: ServerResponse): Promise<void> {
    const transport = new SSEServerTransport('/messages', response);
    this.sessions.set(transport.sessionId, transport);
    this.streams.add(response);
    response.on('close', () => {
      this.sessions.delete(transport.sessionId);
      this.streams.delete(response);
    });
    const send = transport.send.bind(transport);
    transport.send = async (message) => {
      await send(message);
      if ('id' in message) this.unanswered.get(Number(message.id))?.();
    };
    await this.newSdkServer().connect(transport);
  }

  private newSdkServer(): SdkServer {
    const server = new SdkServer(
      { name: 'sse-test', version: '3' },
      { capabilities: { tools: {} }, instructions: 'Be kind.' },
    );
    server.onerror = () => undefined;
    server.fallbackRequestHandler = async (request, extra) => {
      const { name, arguments: args = {} } = (request.params ?? {}) as any;
      if (request.method === 'tools/list')
        return { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
      const progressToken = extra._meta?.progressToken ?? '';
      extra.signal.addEventListener('abort', () => (this.aborted += 1));
      return standardTools[name as string]!(args as Json, {
        signal: extra.signal,
        gate: (gate) => new Promise((resolve) => this.gates.set(gate, resolve)),
        strayProgress: () => Promise.resolve(),
        ...requestsToClient(server, extra),
        progress: (progress, total, message) => {
          const params = { progressToken, progress, total, message };
          return extra.sendNotification({ method: 'notifications/progress', params });
        },
      });
    };
    return server;
  }
}
