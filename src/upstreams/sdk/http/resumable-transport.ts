import { setTimeout as sleep } from 'node:timers/promises';
import {
  StreamableHTTPClientTransport,
  StreamableHTTPError,
} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { backoffMs } from '../../../common/backoff.js';
import { currentScope } from './request-scope.js';

type Answer = JSONRPCMessage & { id: RequestId };

const MAX_TRIES = 5;
const RETRY = { firstMs: 300, longestMs: 2_400 };

/**
 * The SDK's transport, which goes on with a stream but then tells none of its further events, which can't
 * cancel a request whose stream it went on with, and which gives an answer up that was not taken at once.
 */
export class ResumableTransport extends StreamableHTTPClientTransport {
  override async send(
    message: JSONRPCMessage | JSONRPCMessage[],
    options: TransportSendOptions = {},
  ): Promise<void> {
    const { resumptionToken, onresumptiontoken } = options;
    const isRequest = !Array.isArray(message) && 'method' in message && 'id' in message;
    if (isRequest) currentScope()?.sent(message.id);
    if (isAnswer(message)) return this.answer(message, options);
    if (resumptionToken === undefined) return super.send(message, options);
    if (isRequest) return this.resumeSoon(resumptionToken, onresumptiontoken);
    return super.send(message);
  }

  /** Sent again until the upstream takes it or refuses it: one that comes twice is none the second time. */
  private async answer(message: Answer, options: TransportSendOptions): Promise<void> {
    const scope = currentScope();
    for (let tries = 1; ; tries++) {
      try {
        await super.send(message, options);
        return scope?.answered(message.id);
      } catch (error) {
        if (tries < MAX_TRIES && !isRefusal(error)) {
          await sleep(backoffMs(tries, RETRY));
          continue;
        }
        scope?.unanswered(message.id, error);
        throw error;
      }
    }
  }

  /** The scope of the request says when to give up: it then answers 405, at which the SDK goes silent. */
  private async resumeSoon(
    lastEventId: string,
    onresumptiontoken: ((eventId: string) => void) | undefined,
  ): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.resumeStream(lastEventId, { onresumptiontoken });
      } catch (error) {
        if (tries === MAX_TRIES) throw error;
        await sleep(backoffMs(tries, RETRY));
      }
    }
  }
}

function isAnswer(message: JSONRPCMessage | JSONRPCMessage[]): message is Answer {
  return !Array.isArray(message) && !('method' in message) && message.id !== undefined;
}

/** The upstream is there and does not want it: 4xx, but not "later". */
function isRefusal(error: unknown): boolean {
  const status = error instanceof StreamableHTTPError ? (error.code ?? 0) : 0;
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}
