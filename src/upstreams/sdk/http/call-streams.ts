import { readingOf } from './body-limits.js';
import { type BodyEnd, watchBody } from './watched-body.js';

/** An upstream that has answered ends the stream itself; one that was told to cancel may not. */
export const CLOSE_STREAM_MS = 1_000;

/** The response streams of one call, which the SDK leaves open when it needs them no more. */
export class CallStreams {
  /** Resolves when the call is over and none is open any more. */
  readonly over: Promise<void>;
  private markOver = (): void => undefined;
  private readonly connection = new AbortController();
  private openCount = 0;
  private isEnded = false;
  private timer: NodeJS.Timeout | undefined;

  constructor() {
    this.over = new Promise((resolve) => (this.markOver = resolve));
  }

  /** Ends the requests of this call. */
  get signal(): AbortSignal {
    return this.connection.signal;
  }

  /** The response, read with limits; `onEnd` is told once how its stream ended. */
  open(response: Response, maxBytes: number, onEnd: (end: BodyEnd) => void): Response {
    this.openCount += 1;
    return watchBody(response, readingOf(response, maxBytes), (end) => {
      this.openCount -= 1;
      onEnd(end);
      if (this.isEnded && this.openCount === 0) this.close();
    });
  }

  /** The call is over: what is still open is closed a second later. */
  end(): void {
    this.isEnded = true;
    clearTimeout(this.timer);
    if (this.openCount === 0) this.close();
    else this.timer = setTimeout(() => this.close(), CLOSE_STREAM_MS);
  }

  /** Closes what is open at once. */
  close(): void {
    this.isEnded = true;
    clearTimeout(this.timer);
    this.connection.abort();
    this.markOver();
  }
}
