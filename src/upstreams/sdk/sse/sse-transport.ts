import { setImmediate as nextTurn } from 'node:timers/promises';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OutboundHttp } from '../../../outbound/outbound-http.js';
import type { HttpMcpServer } from '../../mcp-server.js';
import { MessageTransport } from '../messages/message-transport.js';
import type { Write } from '../messages/send-scope.js';
import { reasonOf } from '../sdk-reason.js';
import { textOf } from '../streams/byte-store.js';
import { type EventListener, EventReader, type ServerEvent } from '../streams/event-reader.js';
import { LineSplitter } from '../streams/line-splitter.js';
import { isWebPage } from '../web-page.js';
import { textStart } from './text-start.js';

const HTML = /^\s*(?:text\/html|application\/xhtml\+xml)\b/i;

/**
 * HTTP with SSE as of protocol 2024-11-05: one stream brings every answer, each message is a POST to
 * the address that the stream named first. A stream that is over is never opened again silently:
 * what was under way on it would wait in vain.
 */
export class SseTransport extends MessageTransport implements EventListener {
  readonly lastWords = undefined;
  private readonly url: URL;
  private readonly headers: Record<string, string>;
  private readonly connection = new AbortController();
  private readonly endpoint: Promise<URL>;
  private foundEndpoint: (url: URL) => void = () => undefined;
  private noEndpoint: (error: Error) => void = () => undefined;

  constructor(
    server: HttpMcpServer,
    private readonly http: OutboundHttp,
  ) {
    super();
    this.url = new URL(server.url);
    this.headers = server.headers;
    this.endpoint = new Promise((resolve, reject) => {
      this.foundEndpoint = resolve;
      this.noEndpoint = reject;
    });
    this.endpoint.catch(() => undefined);
  }

  async start(): Promise<void> {
    const { signal } = this.connection;
    const headers = this.headersWith({ accept: 'text/event-stream' });
    const response = await this.http.fetch(this.url, { headers, signal });
    if (!response.ok) throw new StreamableHTTPError(response.status, await textStart(response));
    const type = response.headers.get('content-type') ?? 'none';
    if (!type.startsWith('text/event-stream') || response.body === null) {
      await response.body?.cancel();
      throw new Error(`its answer is no event stream but has the content type ${type}`);
    }
    void this.readStream(response.body);
    await this.endpoint;
  }

  onEvent({ name, data }: ServerEvent): void {
    if (data === undefined) return;
    if (name === 'endpoint') this.useEndpoint(textOf(data));
    if (name === 'message') this.receive(data);
  }

  protected writer(message: string): Write {
    return async (signal = this.connection.signal) => {
      const response = await this.http.fetch(await this.endpoint, {
        method: 'POST',
        headers: this.headersWith({ 'content-type': 'application/json' }),
        body: message,
        signal,
      });
      if (!response.ok) throw new StreamableHTTPError(response.status, await textStart(response));
      await this.expectAcceptance(response);
    };
  }

  protected release(): Promise<void> {
    this.connection.abort();
    this.noEndpoint(new Error(this.brokenBecause ?? 'the connection was closed'));
    return Promise.resolve();
  }

  /**
   * Servers accept a message with any 2xx and any words, or none. Only a page for browsers is surely not theirs:
   * the answer to the message would never come.
   */
  private async expectAcceptance(response: Response): Promise<void> {
    const type = response.headers.get('content-type') ?? '';
    if (response.status === 202 || !HTML.test(type)) return response.body?.cancel();
    const text = await textStart(response);
    if (isWebPage(text)) throw new StreamableHTTPError(-1, `Unexpected content type: ${type}`);
  }

  private headersWith(own: Record<string, string>): Headers {
    const headers = new Headers(this.headers);
    for (const [name, value] of Object.entries(own)) headers.set(name, value);
    const { protocolVersion } = this;
    if (protocolVersion !== undefined) headers.set('mcp-protocol-version', protocolVersion);
    return headers;
  }

  private async readStream(body: ReadableStream<Uint8Array>): Promise<void> {
    const { maxMessageBytes: maxBytes } = this;
    const events = new EventReader(maxBytes, this);
    const lines = new LineSplitter({ maxBytes, endsAtReturn: true }, events);
    try {
      await this.readAll(body, lines);
      // What came last is delivered first.
      await nextTurn();
      this.lose('the event stream ended');
    } catch (error) {
      this.lose(`the event stream broke (${reasonOf(error)})`);
    }
  }

  /** The headers hold secrets: they go to no other origin than the one that was registered. */
  private useEndpoint(address: string): void {
    const endpoint = URL.canParse(address, this.url.href) && new URL(address, this.url);
    if (endpoint && endpoint.origin === this.url.origin) this.foundEndpoint(endpoint);
    else this.lose(`it names an address of another origin for its messages: ${address}`);
  }
}
