import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { within } from '../../../common/within.js';
import type { OutboundHttp } from '../../../outbound/outbound-http.js';
import type { UpstreamFailure } from '../../upstream-failure.js';
import type { CallExchange } from '../call-exchange.js';
import { connectionLost, notMcp, toCallFailure } from '../sdk-failure.js';
import type { ExchangeOptions } from '../sdk-link.js';
import { isUnreadable, reasonOf } from '../sdk-reason.js';
import { OversizedAnswer } from '../streams/oversized-answer.js';
import { limited } from './body-limits.js';
import { CallStreams, CLOSE_STREAM_MS } from './call-streams.js';
import { CancelScope } from './cancel-scope.js';
import { inScope, type RequestScope, SILENT } from './request-scope.js';
import { type StreamPlace, StreamPosition } from './stream-position.js';
import { type BodyEnd, READ_REST_MS } from './watched-body.js';

const ANSWER_MS = 30_000;
/** Times that a broken stream is resumed in a row without anything coming of it. */
export const MAX_RESUMES = 3;

/** The trace context is sent with the request, so that what stands before the upstream sees it too. */
interface HttpExchangeParts extends ExchangeOptions {
  http: OutboundHttp;
  hasSession: boolean;
}

/**
 * The HTTP side of one call. The SDK leaves a call waiting for its time-out, for hours here, when the
 * response stream ends without an answer; and it leaves the stream of a cancelled call open. Both are
 * seen to here, by request; of what the streams carry it looks at event ids and requests of the upstream alone.
 */
export class HttpExchange implements CallExchange, RequestScope {
  /** Resolves when the upstream has begun to answer: from then on it knows the call. */
  readonly arrived: Promise<void>;
  readonly sendOptions = {
    onresumptiontoken: (eventId: string): void => this.position.cameTo(eventId),
  };
  private readonly streams = new CallStreams();
  private markArrived = (): void => undefined;
  private restTimer: NodeJS.Timeout | undefined;
  private fruitlessResumes = 0;
  private unreadableBecause: string | undefined;
  private isEnded = false;
  private isAsked = false;
  private readonly position: StreamPosition;

  constructor(
    private readonly parts: HttpExchangeParts,
    private readonly onLost: (failure: UpstreamFailure) => void,
    onPlace: (place: StreamPlace) => void,
  ) {
    this.position = new StreamPosition(parts.resumptionToken, onPlace);
    this.arrived = new Promise((resolve) => (this.markArrived = resolve));
  }

  send<T>(request: () => T): T {
    return inScope(this, request);
  }

  async cancel(tell: () => void): Promise<void> {
    const scope = new CancelScope(this.parts.http);
    inScope(scope, tell);
    await within(CLOSE_STREAM_MS, this.streams.over);
    await within(CLOSE_STREAM_MS, scope.told);
  }

  silently(work: () => void): void {
    inScope(SILENT, work);
  }

  toFailure(error: unknown): UpstreamFailure {
    return toCallFailure(error, this.parts.hasSession);
  }

  async fetch(url: string | URL, init: RequestInit): Promise<Response> {
    // The SDK resumes a stream also when nobody waits for it any more; 405 makes it give up silently.
    if (this.isEnded) return new Response(null, { status: 405 });
    // The SDK answers what the upstream asks on the stream of the call: that is no call.
    if (this.isAsked && init.method === 'POST') return this.tell(url, init);
    this.isAsked = true;
    const request = { ...init, signal: this.streams.signal };
    return init.method === 'GET' ? this.resume(url, request) : this.ask(url, request);
  }

  sent(requestId: unknown): void {
    this.position.sent(requestId);
  }

  received(message: JSONRPCMessage): void {
    this.unreadableBecause = undefined;
    this.position.received(message);
  }

  answered(requestId: RequestId): void {
    this.position.answered(requestId);
  }

  /** It would wait for the answer as long as it lives. */
  unanswered(requestId: RequestId, error: unknown): void {
    if (this.position.isQuestion(requestId))
      this.lost(`the answer to its question was not taken (${reasonOf(error)})`);
  }

  failed(error: Error): void {
    if (isUnreadable(error)) this.unreadableBecause = reasonOf(error);
  }

  end(): void {
    this.stopListening();
    this.streams.end();
  }

  close(): void {
    this.stopListening();
    this.streams.close();
  }

  private stopListening(): void {
    this.isEnded = true;
    this.position.end();
    clearTimeout(this.restTimer);
  }

  private async ask(url: string | URL, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    const { http, traceparent } = this.parts;
    if (traceparent !== undefined) headers.set('traceparent', traceparent);
    const response = await http.fetch(url, { ...init, headers });
    this.markArrived();
    return this.watch(response, (end) => this.bodyEnded(end));
  }

  private async tell(url: string | URL, init: RequestInit): Promise<Response> {
    const signal = AbortSignal.timeout(ANSWER_MS);
    return limited(await this.parts.http.fetch(url, { ...init, signal }));
  }

  private async resume(url: string | URL, init: RequestInit): Promise<Response> {
    try {
      const response = await this.parts.http.fetch(url, init);
      this.markArrived();
      if (response.ok) return this.watch(response, (end) => this.resumedBodyEnded(end));
      // 409: the upstream has not noticed yet that the connection before this one is gone.
      const isFinal = response.status < 500 && response.status !== 409;
      if (isFinal) this.lost(`the stream could not be resumed: HTTP ${response.status}`);
      else this.resumedInVain();
      return response;
    } catch (error) {
      this.resumedInVain();
      throw error;
    }
  }

  private watch(response: Response, onEnd: (end: BodyEnd) => void): Response {
    return this.streams.open(response, this.parts.maxAnswerBytes, (end) => {
      if (this.isEnded) return;
      if (end.error instanceof OversizedAnswer) this.refuse(end.error);
      else onEnd(end);
    });
  }

  /** The SDK would go on with the stream. */
  private refuse(answer: OversizedAnswer): void {
    this.close();
    this.onLost(this.toFailure(answer));
  }

  private bodyEnded({ error }: BodyEnd): void {
    // What broke off was no answer, whatever came before.
    if (error !== undefined) this.unreadableBecause = undefined;
    const how = error === undefined ? 'ended' : `broke (${reasonOf(error)})`;
    this.restTimer = setTimeout(() => {
      if (!this.position.isResumable) this.lost(`the response stream ${how} without an answer`);
    }, READ_REST_MS);
  }

  private resumedBodyEnded({ hadContent }: BodyEnd): void {
    if (hadContent) this.fruitlessResumes = 0;
    else this.resumedInVain();
  }

  private resumedInVain(): void {
    this.fruitlessResumes += 1;
    if (this.fruitlessResumes >= MAX_RESUMES) this.lost('the stream could not be resumed');
  }

  private lost(why: string): void {
    if (this.isEnded) return;
    const because = this.unreadableBecause;
    this.onLost(because === undefined ? connectionLost(why) : notMcp(because));
  }
}
