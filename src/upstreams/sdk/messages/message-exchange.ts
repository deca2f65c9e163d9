import { ignore } from '../../../common/ignore.js';
import { within } from '../../../common/within.js';
import type { UpstreamFailure } from '../../upstream-failure.js';
import type { CallExchange } from '../call-exchange.js';
import { toCallFailure } from '../sdk-failure.js';
import { inSendScope, type Write } from './send-scope.js';

const TELL_MS = 1_000;
/** A server may accept a message only after it has answered it. */
const ACCEPT_REST_MS = 1_000;

/** One request on a connection that all of them share: there is nothing of its own to watch or to close. */
export class MessageExchange implements CallExchange {
  readonly sendOptions = {};
  readonly arrived: Promise<void>;
  private readonly connection = new AbortController();
  private markArrived = (): void => undefined;
  private unaccepted = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    readonly maxAnswerBytes: number,
    private readonly onEnd: () => void,
  ) {
    this.arrived = new Promise((resolve) => (this.markArrived = resolve));
  }

  send<T>(request: () => T): T {
    return inSendScope((write) => this.write(write).finally(this.markArrived), request);
  }

  async cancel(tell: () => void): Promise<void> {
    let told: Promise<void> = Promise.resolve();
    inSendScope((write) => (told = this.write(write)), tell);
    await within(TELL_MS, told.catch(ignore));
  }

  silently(work: () => void): void {
    inSendScope(() => Promise.resolve(), work);
  }

  toFailure(error: unknown): UpstreamFailure {
    return toCallFailure(error, true);
  }

  end(): void {
    this.onEnd();
    if (this.unaccepted > 0) this.timer ??= setTimeout(() => this.close(), ACCEPT_REST_MS);
  }

  close(): void {
    this.onEnd();
    clearTimeout(this.timer);
    this.connection.abort();
  }

  private async write(write: Write): Promise<void> {
    this.unaccepted += 1;
    try {
      await write(this.connection.signal);
    } finally {
      this.unaccepted -= 1;
      if (this.unaccepted === 0) clearTimeout(this.timer);
    }
  }
}
