import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { ExchangeOptions, SdkLink } from '../sdk-link.js';
import { MAX_OTHER_BYTES } from '../answer-limits.js';
import { MessageExchange } from './message-exchange.js';
import { answerBegun, answerEnded, isAnswer, readMessages } from './message-reader.js';
import { sendInScope, type Write } from './send-scope.js';
import { type Bytes, textOf } from '../streams/byte-store.js';

/** Whole messages both ways over one connection, which is lost for all calls or for none. */
export abstract class MessageTransport implements SdkLink, Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: ((message: JSONRPCMessage) => void) | undefined;
  protocolVersion: string | undefined;
  brokenBecause: string | undefined;
  readonly place = undefined;
  abstract readonly lastWords: string | undefined;
  private readonly exchanges = new Set<MessageExchange>();
  private closing: Promise<void> | undefined;

  /** Resolves when messages can be sent. */
  abstract start(): Promise<void>;

  get transport(): this {
    return this;
  }

  exchange(
    _onLost: unknown,
    _onReference: unknown,
    { maxAnswerBytes }: ExchangeOptions,
  ): MessageExchange {
    const exchange = new MessageExchange(maxAnswerBytes, () => this.exchanges.delete(exchange));
    this.exchanges.add(exchange);
    return exchange;
  }

  /** The session ends with the connection. */
  forget(): Promise<void> {
    return Promise.resolve();
  }

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
  }

  send(message: JSONRPCMessage): Promise<void> {
    return sendInScope(this.writer(JSON.stringify(message)));
  }

  close(): Promise<void> {
    if (this.closing === undefined) {
      this.closing = this.release();
      this.onclose?.();
    }
    return this.closing;
  }

  /** Sends the message; rejects with what `toCallFailure` understands. */
  protected abstract writer(message: string): Write;

  /** Ends what the connection consists of; resolves when nothing is left. Never rejects. */
  protected abstract release(): Promise<void>;

  /** The connection broke. */
  protected lose(why: string): void {
    if (this.closing === undefined) this.brokenBecause = why;
    void this.close();
  }

  /** What a message may have: as much as the answer to any of the requests that are under way. */
  protected readonly maxMessageBytes = (): number => {
    const limits = [...this.exchanges].map(({ maxAnswerBytes }) => maxAnswerBytes);
    return limits.length === 0 ? MAX_OTHER_BYTES : Math.max(...limits);
  };

  /** False: it is no message. */
  protected receive(bytes: Bytes): boolean {
    const messages = readMessages(textOf(bytes));
    for (const message of messages) this.deliver(message);
    return messages.length > 0;
  }

  /** A message is too long: ends the request that it answers, or waits for its end to tell which that is. */
  onLongLine(head: Bytes, bytes: number): boolean {
    const answer = answerBegun(head, bytes);
    if (answer !== undefined) this.deliver(answer);
    else if (isAnswer(head)) return false;
    else this.lose(tooLong(bytes));
    return true;
  }

  onLongLineEnd(head: Bytes, tail: Buffer, bytes: number): void {
    const answer = answerEnded(head, tail, bytes);
    if (answer === undefined) this.lose(tooLong(bytes));
    else this.deliver(answer);
  }

  onEndlessLine(bytes: number): void {
    this.lose(`it sent a message that does not end, of more than ${bytes} bytes`);
  }

  /**
   * The SDK handles a notification a microtask later than an answer: the last progress of a call that
   * came together with its answer would be lost.
   */
  private deliver(message: JSONRPCMessage): void {
    if ('method' in message) this.onmessage?.(message);
    else setImmediate(() => this.onmessage?.(message));
  }
}

function tooLong(bytes: number): string {
  return `it sent a message of more than ${bytes} bytes that does not say what it answers`;
}
