import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { ExchangeOptions, SdkLink } from '../sdk-link.js';
import { MAX_OTHER_BYTES } from '../answer-limits.js';
import { MessageExchange } from './message-exchange.js';
import {
  answerBegun,
  answerEnded,
  isAnswer,
  parseMessages,
  readMessage,
} from './message-reader.js';
import { sendInScope, type Write } from './send-scope.js';
import { type Bytes, bufferOf, textOf } from '../streams/byte-store.js';
import type { LineSplitter } from '../streams/line-splitter.js';
import { MESSAGES_PER_TURN } from '../streams/message-pace.js';
import { overtakenProgress } from '../streams/overtaken-progress.js';

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
  /** What came and is not delivered yet: messages, or what may be some. */
  private arrived: unknown[] = [];
  /** Why nothing that comes after that can be understood. */
  private unusableBecause: string | undefined;
  private delivering: Promise<void> = Promise.resolve();
  private sinceTurn = 0;
  private isAfterNotice = false;

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

  /** What does not answer is lost, or answers too late. */
  begin(connect: () => Promise<void>): Promise<void> {
    return connect();
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

  /** Reads to the end, no faster than messages are delivered. Rejects when the stream breaks. */
  protected async readAll(chunks: AsyncIterable<Uint8Array>, lines: LineSplitter): Promise<void> {
    for await (const chunk of chunks) {
      lines.add(bufferOf(chunk));
      this.delivering = this.deliver();
      await this.delivering;
    }
  }

  /** Resolves when what was read so far has been delivered. */
  protected get delivered(): Promise<void> {
    return this.delivering;
  }

  /** False: it is no message. */
  protected receive(bytes: Bytes): boolean {
    const values = parseMessages(textOf(bytes));
    for (const value of values) this.arrived.push(value);
    return values.length > 0;
  }

  /** A message is too long: ends the request that it answers, or waits for its end to tell which that is. */
  onLongLine(head: Bytes, bytes: number): boolean {
    const answer = answerBegun(head, bytes);
    if (answer !== undefined) this.arrived.push(answer);
    else if (isAnswer(head)) return false;
    else this.unusableBecause = tooLong(bytes);
    return true;
  }

  onLongLineEnd(head: Bytes, tail: Buffer, bytes: number): void {
    const answer = answerEnded(head, tail, bytes);
    if (answer === undefined) this.unusableBecause = tooLong(bytes);
    else this.arrived.push(answer);
  }

  onEndlessLine(bytes: number): void {
    this.unusableBecause = `it sent a message that does not end, of more than ${bytes} bytes`;
  }

  private async deliver(): Promise<void> {
    const { arrived } = this;
    this.arrived = [];
    const overtaken = overtakenProgress(arrived);
    for (const [n, value] of arrived.entries())
      if (!overtaken.has(n)) await this.deliverOne(readMessage(value));
    if (this.unusableBecause !== undefined) this.lose(this.unusableBecause);
  }

  /**
   * The SDK handles a notification a microtask later than an answer: the last progress of a call that
   * came together with its answer would be lost.
   */
  private async deliverOne(message: JSONRPCMessage | undefined): Promise<void> {
    const isNotice = message === undefined || 'method' in message;
    const isLate = !isNotice && this.isAfterNotice;
    if (isLate || this.sinceTurn === MESSAGES_PER_TURN) {
      await nextTurn();
      this.sinceTurn = 0;
      this.isAfterNotice = false;
    }
    this.sinceTurn += 1;
    this.isAfterNotice ||= isNotice;
    if (message !== undefined && this.closing === undefined) this.onmessage?.(message);
  }
}

function tooLong(bytes: number): string {
  return `it sent a message of more than ${bytes} bytes that does not say what it answers`;
}
