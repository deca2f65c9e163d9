import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import type { SdkLink } from '../sdk-link.js';
import type { Line } from './line-splitter.js';
import { MessageExchange } from './message-exchange.js';
import { oversizedAnswer, readMessage } from './message-reader.js';
import { sendInScope, type Write } from './send-scope.js';

/** Twice and more what a result may have by default; JSON is longer than what it carries. */
const MAX_MESSAGE_BYTES = 128 * 1_024 * 1_024;

/** Whole messages both ways over one connection, which is lost for all calls or for none. */
export abstract class MessageTransport implements SdkLink, Transport {
  onclose: (() => void) | undefined;
  onerror: ((error: Error) => void) | undefined;
  onmessage: ((message: JSONRPCMessage) => void) | undefined;
  protocolVersion: string | undefined;
  brokenBecause: string | undefined;
  readonly place = undefined;
  abstract readonly lastWords: string | undefined;
  /** Answers to what is longer than this fail. */
  protected readonly maxMessageBytes: number = MAX_MESSAGE_BYTES;
  private closing: Promise<void> | undefined;

  /** Resolves when messages can be sent. */
  abstract start(): Promise<void>;

  get transport(): this {
    return this;
  }

  exchange(): MessageExchange {
    return new MessageExchange();
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

  /** What is no message is passed to `onNoise`. */
  protected receive(line: Line, onNoise: (text: string) => void): void {
    const { maxMessageBytes } = this;
    if (line.isWhole) {
      const message = readMessage(line.text);
      if (message === undefined) onNoise(line.text);
      else this.deliver(message);
      return;
    }
    const answer = oversizedAnswer(line.head, line.tail, maxMessageBytes);
    if (answer === undefined) this.lose(`it sent a message of more than ${maxMessageBytes} bytes`);
    else this.deliver(answer);
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
