import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';
import { ignore } from '../../common/ignore.js';
import { isContainer, isDeeperThan } from '../../common/json-depth.js';
import { within } from '../../common/within.js';
import type { QuestionAnswer, UpstreamProgress } from '../upstream-call.js';
import { CallCancelled, ResultOversized, UpstreamFailure } from '../upstream-failure.js';
import type {
  QuestionListener,
  SessionCall,
  StreamReference,
  TaskMethod,
} from '../upstream-session.js';
import { MAX_LEVELS, MAX_OTHER_BYTES, maxAnswerBytes } from './answer-limits.js';
import type { CallExchange } from './call-exchange.js';
import type { SdkLink } from './sdk-link.js';

/** The longest time-out that a timer takes, 24.8 days: deadlines are the caller's. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;
/** A cancellation that overtakes its call is lost, so it waits for the beginning of the answer; some begin late. */
const ARRIVE_MS = 1_000;
const TOO_DEEP = `The upstream's answer is nested deeper than ${MAX_LEVELS} levels.`;

/** Any object: a finished result is not thrown away because of how it looks. */
const ANYTHING = z.custom<Record<string, unknown>>(isContainer);

export interface SdkRequestParts {
  client: Client;
  link: SdkLink;
  method: 'tools/call' | 'tools/list' | TaskMethod;
  params: Record<string, unknown>;
  onProgress: (progress: UpstreamProgress) => void;
  onReference: (reference: StreamReference) => void;
  /** Undefined: questions on its stream are refused. */
  onQuestion?: QuestionListener;
  /** Progress may come after the answer, which named a task. */
  outlivesAnswer?: boolean;
  /** Undefined: the answer is no result of a tool. */
  maxResultBytes?: number;
  traceparent?: string | undefined;
  /** Goes on with the stream of a request of another process. */
  resumptionToken?: string;
}

/** What is asked, and who is told what; silence where nothing is said. */
export type RequestParts = Pick<SdkRequestParts, 'method' | 'params'> & Partial<SdkRequestParts>;

/** One request on a session, with its own cancellation and its own watch over the response stream. */
export class SdkRequest implements SessionCall {
  readonly answer: Promise<Record<string, unknown>>;
  private readonly exchange: CallExchange;
  private readonly abort = new AbortController();
  private resolve: (result: Record<string, unknown>) => void = () => undefined;
  private reject: (failure: UpstreamFailure) => void = () => undefined;
  private cancelling: Promise<void> | undefined;
  private cancelled: CallCancelled | undefined;
  private isEnded = false;

  constructor(private readonly parts: SdkRequestParts) {
    const { link, traceparent, maxResultBytes, resumptionToken } = parts;
    const isResult = maxResultBytes !== undefined;
    this.exchange = link.exchange(
      (failure) => this.end(failure),
      (reference) => this.parts.onReference(reference),
      {
        traceparent,
        resumptionToken,
        maxAnswerBytes: isResult ? maxAnswerBytes(maxResultBytes) : MAX_OTHER_BYTES,
      },
    );
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.send();
  }

  /** Who is asked what the upstream wants to know while the request is under way; its end takes the question back. */
  get questions(): QuestionListener | undefined {
    const { onQuestion } = this.parts;
    if (onQuestion === undefined || this.isEnded) return undefined;
    return (question) => Promise.race([onQuestion(question), this.over]);
  }

  /** The same, if the upstream asks on this exchange. */
  questionsOn(exchange: unknown): QuestionListener | undefined {
    return exchange === this.exchange ? this.questions : undefined;
  }

  cancel(reason: string): Promise<void> {
    this.cancelling ??= this.tellAndClose(reason);
    return this.cancelling;
  }

  private get over(): Promise<QuestionAnswer> {
    const cancelled = (): QuestionAnswer => ({ action: 'cancel' });
    return this.answer.then(cancelled, cancelled);
  }

  /** Ends it as lost, at once and without a word to the upstream. */
  abandon(why: string): void {
    this.fail(new UpstreamFailure('upstream_lost', why));
    this.exchange.close();
  }

  private send(): void {
    const { client, method, params, resumptionToken } = this.parts;
    const options = {
      signal: this.abort.signal,
      timeout: NO_TIMEOUT_MS,
      // Always given: without it the request carries no progress token.
      onprogress: (progress: UpstreamProgress) => this.progressed(progress),
      ...this.exchange.sendOptions,
      resumptionToken,
    };
    this.exchange
      .send(() => client.request({ method, params }, ANYTHING, options))
      .then(
        (result) => this.succeed(result),
        // A cancelled request fails here too; its end is told when its stream is closed.
        (error: unknown) => {
          if (!this.abort.signal.aborted) this.end(this.exchange.toFailure(error));
        },
      );
  }

  private progressed(progress: UpstreamProgress): void {
    if (!this.isEnded || this.parts.outlivesAnswer) this.parts.onProgress(progress);
  }

  private succeed(result: Record<string, unknown>): void {
    if (isDeeperThan(MAX_LEVELS, result))
      return this.fail(new UpstreamFailure('upstream_error', TOO_DEEP, true));
    if (this.isEnded) return;
    this.isEnded = true;
    this.exchange.end();
    this.resolve(result);
  }

  private end(failure: UpstreamFailure): void {
    if (failure instanceof ResultOversized) void this.stop(failure);
    else this.fail(failure);
  }

  /** Has the upstream stop sending what is not taken; nothing more of it counts. */
  private async stop(oversized: ResultOversized): Promise<void> {
    if (this.isEnded) return;
    this.isEnded = true;
    await this.exchange.cancel(() => this.abort.abort(oversized.message));
    this.exchange.close();
    this.reject(this.cancelled ?? this.asFailure(oversized));
  }

  private asFailure(oversized: ResultOversized): UpstreamFailure {
    const { method, maxResultBytes } = this.parts;
    return maxResultBytes === undefined
      ? new UpstreamFailure('upstream_error', `The answer to ${method} is too long.`)
      : oversized;
  }

  private fail(failure: UpstreamFailure): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.exchange.end();
    // The SDK keeps its handlers for a request that could not be sent: an abort drops them.
    this.exchange.silently(() => this.abort.abort());
    this.reject(this.cancelled ?? failure);
  }

  private async tellAndClose(reason: string): Promise<void> {
    if (this.isEnded) return;
    const over = this.answer.then(ignore, ignore);
    await within(ARRIVE_MS, Promise.race([this.exchange.arrived, over]));
    if (this.isEnded) return;
    this.cancelled = new CallCancelled(reason, true);
    await this.exchange.cancel(() => this.abort.abort(reason));
    this.exchange.close();
    this.fail(this.cancelled);
  }
}
