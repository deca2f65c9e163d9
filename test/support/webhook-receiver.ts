import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { assertSchema } from './contract.js';
import { eventually } from './eventually.js';

/** What is posted, by its kind; events have none. */
const SCHEMAS: Record<string, string> = { test: 'TestMessage', '': 'Event' };

/** A webhook as it arrived. */
export interface ReceivedWebhook {
  id: string;
  headers: Record<string, string>;
  /** Byte by byte. */
  raw: Buffer;
  /** The JSON of it. */
  message: any;
  /** On the monotonic clock. */
  atMs: number;
}

export type Answer = (response: ServerResponse, webhook: ReceivedWebhook) => void | Promise<void>;

/** Answers with a status. */
export function status(code: number, headers: Record<string, string> = {}, body?: object): Answer {
  return (response) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    response.writeHead(code, { ...type, ...headers }).end(body && JSON.stringify(body));
  };
}

/** Takes the request in and breaks the connection instead of answering. */
export const loseAnswer: Answer = (response) => void response.socket?.destroy();

/** Never answers. */
export const saySilence: Answer = () => undefined;

/** The other side of a webhook: a real HTTP server that answers as the test says. */
export class WebhookReceiver {
  readonly received: ReceivedWebhook[] = [];
  /** Of the requests that are being answered. */
  open = 0;
  mostOpen = 0;
  private wrong: unknown;
  private readonly planned: Answer[] = [];
  private usual: Answer = status(204);

  private constructor(private readonly http: Server) {}

  static async start(): Promise<WebhookReceiver> {
    const http = createServer();
    const receiver = new WebhookReceiver(http);
    http.on(
      'request',
      (request, response) =>
        void receiver
          .take(request, response)
          .catch((error: unknown) => receiver.refuse(response, error)),
    );
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}/hook`;
  }

  /** The answers to the next requests, one each; then it answers as usual. */
  answer(...answers: Answer[]): void {
    this.planned.push(...answers);
  }

  answerAlways(answer: Answer): void {
    this.usual = answer;
  }

  /** Forgets what came and what was planned, breaks off what is open; answers 204 again. */
  reset(): void {
    this.http.closeAllConnections();
    this.received.length = 0;
    this.planned.length = 0;
    this.usual = status(204);
    this.mostOpen = 0;
  }

  /** Resolves when so many have come; answers them. */
  async until(count: number): Promise<ReceivedWebhook[]> {
    await eventually(`${count} webhooks have come`, () => {
      if (this.wrong !== undefined) throw this.wrong as Error;
      return this.received.length >= count;
    });
    return this.received;
  }

  /** The ids of the calls that were told, in the order in which they came. */
  get told(): string[] {
    return this.received.flatMap(({ message }) =>
      (message.notifications as { callId: string }[]).map(({ callId }) => callId),
    );
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.http.close(resolve));
    this.http.closeAllConnections();
    await closed;
  }

  /** A body that is not as openapi.yaml says is not taken, and the next look at what came says why. */
  private refuse(response: ServerResponse, error: unknown): void {
    this.wrong ??= error;
    response.writeHead(500).end();
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.open += 1;
    this.mostOpen = Math.max(this.mostOpen, this.open);
    response.on('close', () => (this.open -= 1));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const headers = request.headers as Record<string, string>;
    const message = JSON.parse(raw.toString()) as { kind?: string };
    assertSchema(SCHEMAS[message.kind ?? ''] ?? 'Message', message);
    const webhook = {
      ...{ id: headers['webhook-id'] ?? '', headers, raw, message },
      atMs: performance.now(),
    };
    this.received.push(webhook);
    await (this.planned.shift() ?? this.usual)(response, webhook);
  }
}

/** Whether the signature is good, as any receiver checks it. */
export function isSignedBy(secret: string, { raw, headers }: ReceivedWebhook): boolean {
  try {
    new Webhook(secret).verify(raw.toString(), headers);
    return true;
  } catch {
    return false;
  }
}
