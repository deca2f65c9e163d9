import { setTimeout as sleep } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { TransportSendOptions } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import { currentScope } from './request-scope.js';

const MAX_TRIES = 5;
const FIRST_RETRY_MS = 150;

/**
 * The SDK's transport, which goes on with a stream but then tells none of its further events, which
 * can't cancel a request whose stream it went on with, and which does not say when an answer was taken.
 */
export class ResumableTransport extends StreamableHTTPClientTransport {
  override async send(
    message: JSONRPCMessage | JSONRPCMessage[],
    options: TransportSendOptions = {},
  ): Promise<void> {
    const { resumptionToken, onresumptiontoken } = options;
    const isRequest = !Array.isArray(message) && 'method' in message && 'id' in message;
    if (isRequest) currentScope()?.sent(message.id);
    if (resumptionToken === undefined) return this.sendNew(message, options);
    if (isRequest) return this.resumeSoon(resumptionToken, onresumptiontoken);
    return super.send(message);
  }

  private async sendNew(
    message: JSONRPCMessage | JSONRPCMessage[],
    options: TransportSendOptions,
  ): Promise<void> {
    await super.send(message, options);
    const isAnswer = !Array.isArray(message) && !('method' in message) && message.id !== undefined;
    if (isAnswer) currentScope()?.answered(message.id as RequestId);
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
        await sleep(FIRST_RETRY_MS * 2 ** tries);
      }
    }
  }
}
