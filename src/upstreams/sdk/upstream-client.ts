import { randomInt } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { Protocol } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CancelledNotificationSchema,
  type ClientCapabilities,
  type RequestId,
} from '@modelcontextprotocol/sdk/types.js';

const ABOUT = { name: 'background-calls', version: '0.1.0' };
/** Far above what a process counts up to, and within 32 bits. */
const FRESH_IDS = { from: 2 ** 28, to: 2 ** 30 };

/** What the SDK's client keeps to itself. */
interface Internals {
  _requestMessageId: number;
  _cleanupTaskProgressHandler(taskId: string): void;
  _requestHandlerAbortControllers: Map<RequestId, AbortController>;
}

/** The SDK's client, with what it does not offer. */
export class UpstreamClient extends Client {
  constructor(capabilities: ClientCapabilities) {
    super(ABOUT, { capabilities });
  }

  /**
   * Goes on in a session of another process, without `initialize`. Its request ids are still known
   * there: ours begin at `requestId`, which names the request to go on with, or where they surely
   * name none. (An id of 0 could not be cancelled either.)
   */
  async attach(transport: Transport, requestId: number | undefined): Promise<void> {
    this.internals._requestMessageId = requestId ?? randomInt(FRESH_IDS.from, FRESH_IDS.to);
    await Protocol.prototype.connect.call(this, transport);
  }

  /** The SDK passes on progress of a task, and keeps what it needs for that, until this is called. */
  dropTaskProgress(taskId: string): void {
    this.internals._cleanupTaskProgressHandler(taskId);
  }

  /**
   * The listener is told which request the upstream takes back; nothing is answered to it. The SDK itself
   * leaves out number 0, which is the first one of each server.
   */
  onTakenBack(listener: (requestId: RequestId) => void): void {
    this.setNotificationHandler(CancelledNotificationSchema, ({ params }) => {
      const { requestId, reason } = params;
      if (requestId === undefined) return;
      listener(requestId);
      this.internals._requestHandlerAbortControllers.get(requestId)?.abort(reason);
    });
  }

  private get internals(): Internals {
    return this as unknown as Internals;
  }
}
