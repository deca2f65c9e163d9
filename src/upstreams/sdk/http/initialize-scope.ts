import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { OutboundHttp } from '../../../outbound/outbound-http.js';
import type { UpstreamFailure } from '../../upstream-failure.js';
import { MAX_OTHER_BYTES } from '../answer-limits.js';
import { noMcpServer } from '../sdk-failure.js';
import { isUnreadable, reasonOf } from '../sdk-reason.js';
import { limited, readingOf } from './body-limits.js';
import type { RequestScope } from './request-scope.js';
import { type BodyEnd, READ_REST_MS, watchBody } from './watched-body.js';

/** The requests by which a session begins. The SDK would wait for a first answer that is over without having been one. */
export class InitializeScope implements RequestScope {
  /** Rejects when it is sure that no answer comes any more. */
  readonly unusable: Promise<never>;
  private isAsked = false;
  private isOver = false;
  private unreadableBecause: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private fail: (failure: UpstreamFailure) => void = () => undefined;

  constructor(private readonly http: OutboundHttp) {
    this.unusable = new Promise((_, reject) => (this.fail = reject));
    this.unusable.catch(() => undefined);
  }

  async fetch(url: string | URL, init: RequestInit): Promise<Response> {
    const isFirst = !this.isAsked;
    this.isAsked = true;
    const response = await this.http.fetch(url, init);
    if (!isFirst || !response.ok) return limited(response);
    const reading = readingOf(response, MAX_OTHER_BYTES);
    return watchBody(response, reading, (end) => this.bodyEnded(end));
  }

  received(message: JSONRPCMessage): void {
    if (!('method' in message)) this.end();
  }

  failed(error: Error): void {
    if (isUnreadable(error)) this.unreadableBecause = reasonOf(error);
  }

  sent(): void {}

  answered(): void {}

  unanswered(): void {}

  /** The session stands, or is given up. */
  end(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private bodyEnded({ error }: BodyEnd): void {
    if (this.isOver) return;
    const how = error === undefined ? 'it is over' : `it broke off (${reasonOf(error)})`;
    this.timer = setTimeout(() => {
      this.fail(noMcpServer(this.unreadableBecause ?? `${how} and holds no answer`));
    }, READ_REST_MS);
  }
}
