import type { Clock } from '../common/clock.js';
import { within } from '../common/within.js';

/** How old a look may be, and how long a scrape waits for one: scrapers give up after some seconds. */
const KEPT_MS = 5_000;
const ANSWER_MS = 900;

/**
 * What was last read from the database for the figures. However many scrapes come, it is read at most
 * every 5 s, by one statement at a time, and a scrape is answered while the database is away.
 */
export class DatabaseLook<T> {
  private latest: T | undefined;
  private reading: Promise<void> | undefined;
  private lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    private readonly read: () => Promise<T>,
  ) {}

  /** Undefined: the database did not answer, or not yet. */
  async value(): Promise<T | undefined> {
    const isFresh = this.clock.monotonicMs() - this.lookedAtMs < KEPT_MS;
    if (isFresh) return this.latest;
    this.reading ??= this.look();
    return (await within(ANSWER_MS, this.reading)) ? this.latest : undefined;
  }

  private async look(): Promise<void> {
    try {
      this.latest = await this.read();
    } catch {
      // That it is away is the answer: the figures show it, and the pool has logged it.
      this.latest = undefined;
    }
    this.lookedAtMs = this.clock.monotonicMs();
    this.reading = undefined;
  }
}
