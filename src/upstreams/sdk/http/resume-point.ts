import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';

/** A request of the upstream. */
interface OpenRequest {
  method: string;
  /** The event before it. */
  before: string | undefined;
}

/**
 * From which event another process goes on with a stream: the last one that came, but never beyond a request
 * of the upstream that was not answered yet, nor beyond the answer of the upstream. It replays both; nobody else
 * would ask that request, and this process may die before the answer is recorded.
 */
export class ResumePoint {
  /** Requests that wait for their answer, in the order in which they came. */
  private readonly open = new Map<RequestId, OpenRequest>();
  private previous: string | undefined;
  /** An event id came, and not yet the message that it is of. */
  private isBeforeMessage = false;
  private isAnswered = false;

  /** `latest`: the event after which the stream is gone on with here. */
  constructor(private latest?: string) {}

  /** Undefined: nobody could go on. */
  get eventId(): string | undefined {
    const [first] = this.open.values();
    return first === undefined ? this.latest : first.before;
  }

  /** An event with an id, before its message. */
  cameTo(eventId: string): void {
    if (this.isAnswered || eventId === this.latest) return;
    this.previous = this.latest;
    this.latest = eventId;
    this.isBeforeMessage = true;
  }

  received(message: JSONRPCMessage): void {
    const before = this.isBeforeMessage ? this.previous : this.latest;
    this.isBeforeMessage = false;
    if (!('method' in message)) return this.cameToAnswer(before);
    const { method } = message;
    if ('id' in message) this.open.set(message.id, { method, before });
    if (method === 'notifications/cancelled')
      this.answered(message.params?.['requestId'] as RequestId);
  }

  /** Whether it waits for what the user answers. */
  isQuestion(requestId: RequestId): boolean {
    return this.open.get(requestId)?.method === 'elicitation/create';
  }

  /** Or taken back: it need not be asked again. */
  answered(requestId: RequestId): void {
    this.open.delete(requestId);
  }

  private cameToAnswer(before: string | undefined): void {
    if (!this.isAnswered) this.latest = before;
    this.isAnswered = true;
  }
}
