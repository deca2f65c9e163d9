import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { UpstreamFailure } from '../upstream-failure.js';
import type { SessionPlace, StreamReference } from '../upstream-session.js';
import type { CallExchange } from './call-exchange.js';

export interface ExchangeOptions {
  /** Travels as a header where there are headers. */
  traceparent: string | undefined;
  /** An answer that is longer is cut while it comes. */
  maxAnswerBytes: number;
  /** The event after which the request of another process is gone on with. */
  resumptionToken?: string | undefined;
}

/** One transport of the SDK, or of our own, with all that the SDK does not see to. */
export interface SdkLink {
  /** Its `close` may be called at any time and more than once, and resolves when nothing of it is left. */
  readonly transport: Transport;
  /** What the two sides agreed on; undefined before that. */
  readonly protocolVersion: string | undefined;
  /** Why the connection was lost; undefined while it stands, and when this side closed it. */
  readonly brokenBecause: string | undefined;
  /** What a server that does not answer said last, where that can be known. */
  readonly lastWords: string | undefined;
  /** Undefined: the session ends with this process. */
  readonly place: SessionPlace | undefined;
  /**
   * The transport's side of a request that is about to be sent. `onReference` is told where the
   * request can be gone on with, twice a second at most.
   */
  exchange(
    onLost: (failure: UpstreamFailure) => void,
    onReference: (reference: StreamReference) => void,
    options: ExchangeOptions,
  ): CallExchange;
  /** Runs what makes the SDK begin the session; rejects also when what came in answer can't be one. */
  begin(connect: () => Promise<void>): Promise<void>;
  /** Asks the upstream to drop the session. May reject. */
  forget(): Promise<void>;
}
