import { setMaxListeners } from 'node:events';
import type { Dispatcher } from 'undici';
import { decoded } from './body-decoding.js';
import { UnknownStatusError } from './outbound-errors.js';
import { endWhenDropped } from './unread-bodies.js';

/** Statuses whose responses have no body, whatever they send. */
const WITHOUT_BODY = new Set([204, 205, 304]);
/** A reason phrase that a response may have; others are of no use to anybody. */
const REASON_PHRASE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** As much waits for its reader; then the other side has to. */
const MAX_WAITING_BYTES = 64 * 1_024;
/** What waits is held here and not in the stream. */
const NO_QUEUE: QueuingStrategy<Uint8Array> = { highWaterMark: 0 };

interface Outcome {
  resolve(response: Response): void;
  reject(error: unknown): void;
}

type Control = Dispatcher.DispatchController;

/**
 * One request under way: makes of what a dispatcher tells of it what `fetch` would make of it, with a
 * fraction of the memory.
 */
export class OutboundExchange implements Dispatcher.DispatchHandler {
  private outcome: Outcome | undefined;
  private control: Control | undefined;
  private body: ReadableStreamDefaultController<Uint8Array> | undefined;
  private isOver = false;
  /** Has come and is not read yet. */
  private waiting: Buffer[] = [];
  private waitingBytes = 0;
  private isAwaited = false;
  /** Why the body broke off, until what came before is read. */
  private failure: Error | undefined;

  private constructor(
    private readonly signal: AbortSignal | null | undefined,
    outcome: Outcome,
  ) {
    this.outcome = outcome;
    if (!signal) return;
    // Any number of requests may hang on one signal: that is no leak.
    setMaxListeners(Infinity, signal);
    signal.addEventListener('abort', this);
  }

  /**
   * Rejects like `fetch`: with the reason of an abort, or a TypeError whose cause says what happened.
   * @param signal breaks off the request and what comes in answer
   */
  static async send(
    dispatcher: Dispatcher,
    request: Dispatcher.DispatchOptions,
    signal?: AbortSignal | null,
  ): Promise<Response> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      dispatcher.dispatch(request, new OutboundExchange(signal, { resolve, reject }));
    });
  }

  /** The signal was aborted. */
  handleEvent(): void {
    this.breakOff(this.signal?.reason);
  }

  onRequestStart(control: Control): void {
    this.control = control;
    if (this.isOver) this.disconnect();
  }

  onResponseStart(control: Control, status: number, _headers: unknown, statusText = ''): void {
    if (isInterim(status)) return;
    if (status < 200 || status > 599) return this.refuse(status);
    const headers = toHeaders(control.rawHeaders as Buffer[]);
    control.rawHeaders = null;
    const body = WITHOUT_BODY.has(status)
      ? null
      : decoded(this.createBody(), headers.get('content-encoding'));
    const init = { status, headers, statusText: REASON_PHRASE.test(statusText) ? statusText : '' };
    this.outcome?.resolve(endWhenDropped(new Response(body, init)));
    // Whoever holds this holds the response, which then is never seen as dropped.
    this.outcome = undefined;
  }

  onResponseData(control: Control, chunk: Buffer): void {
    if (this.isOver) return;
    if (this.body === undefined) return this.breakOff(new TypeError('a body where there is none'));
    this.waiting.push(chunk);
    this.waitingBytes += chunk.length;
    if (this.isAwaited) this.passOn();
    else if (this.waitingBytes >= MAX_WAITING_BYTES) control.pause();
  }

  onResponseEnd(): void {
    if (this.isOver) return;
    this.end();
    this.passOn();
    this.body?.close();
  }

  /** What came before is read first: it may be all that was wanted. */
  onResponseError(_control: Control | undefined, cause: Error): void {
    const message = this.outcome === undefined ? 'terminated' : 'fetch failed';
    const error = new TypeError(message, { cause });
    if (this.isOver || this.waitingBytes === 0) return this.fail(error);
    this.end();
    this.failure = error;
  }

  private createBody(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>(
      {
        start: (body) => void (this.body = body),
        pull: (body) => {
          this.isAwaited = true;
          if (this.failure !== undefined && this.waitingBytes === 0)
            return body.error(this.failure);
          this.passOn();
          this.control?.resume();
        },
        cancel: () => {
          this.end();
          this.disconnect();
        },
      },
      NO_QUEUE,
    );
  }

  /** As one piece: the other side may send it byte by byte, and each piece costs its readers more than its bytes. */
  private passOn(): void {
    const { waiting, waitingBytes } = this;
    if (waitingBytes === 0) return;
    this.waiting = [];
    this.waitingBytes = 0;
    this.isAwaited = false;
    this.body?.enqueue(waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting));
  }

  private refuse(status: number): void {
    this.breakOff(new TypeError('fetch failed', { cause: new UnknownStatusError(status) }));
  }

  private breakOff(reason: unknown): void {
    this.fail(reason);
    this.disconnect();
  }

  private fail(error: unknown): void {
    if (this.isOver) return;
    this.end();
    this.outcome?.reject(error);
    this.body?.error(error);
  }

  private end(): void {
    this.isOver = true;
    this.signal?.removeEventListener('abort', this);
  }

  private disconnect(): void {
    this.control?.abort(new DOMException('The request was broken off', 'AbortError'));
  }
}

/** 101 would be the answer to a request that none of ours is. */
function isInterim(status: number): boolean {
  return status >= 100 && status < 200 && status !== 101;
}

/** @param raw names and values in turn, as they came */
function toHeaders(raw: readonly Buffer[]): Headers {
  const headers = new Headers();
  for (let n = 0; n + 1 < raw.length; n += 2)
    headers.append(raw[n]!.toString('latin1'), raw[n + 1]!.toString('latin1'));
  return headers;
}
