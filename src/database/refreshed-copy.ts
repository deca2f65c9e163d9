import type { Logger } from '../common/logger.js';
import type { Channel, ChannelListener } from './channel-listener.js';

interface RefreshedCopyOptions<T> {
  /** Told when the rows change; its name is also the name in the log. */
  channel: Channel;
  /** Milliseconds between the looks that catch what no telling told. */
  pollMs: number;
  load: () => Promise<T>;
  listener: ChannelListener;
  logger: Logger;
}

/**
 * A copy in memory of a few rows that every request needs. It is read again when a replica tells of
 * a change, after each reconnect of the listener, and every `pollMs`; while the database is away the
 * last copy stays.
 */
export class RefreshedCopy<T> {
  private value: T | undefined;
  private running: Promise<unknown> = Promise.resolve();
  private queued: Promise<void> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(private readonly options: RefreshedCopyOptions<T>) {}

  /** @throws Error before `start` has ended. */
  get current(): T {
    if (this.value === undefined) throw new Error(`${this.options.channel}: not loaded yet`);
    return this.value;
  }

  /** Loads the first copy and keeps it fresh until `stop`. */
  async start(): Promise<void> {
    const { listener, channel, pollMs } = this.options;
    listener.on(channel, () => this.refreshQuietly());
    listener.onReconnect(() => this.refreshQuietly());
    await this.refresh();
    this.timer = setInterval(() => this.refreshQuietly(), pollMs);
  }

  /** Ends the polling and waits for the load that is running. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearInterval(this.timer);
    await this.running;
  }

  /**
   * Resolves after a load that began after this call, so a change committed before it is seen.
   * @throws DatabaseUnavailableError when the database does not answer.
   */
  refresh(): Promise<void> {
    this.queued ??= this.running.then(async () => {
      this.queued = undefined;
      const load = this.options.load();
      this.running = load.catch(() => undefined);
      this.value = await load;
    });
    return this.queued;
  }

  private refreshQuietly(): void {
    if (this.isStopped) return;
    this.refresh().catch((error: unknown) =>
      this.options.logger.warn(
        'database.copy_not_refreshed',
        { copy: this.options.channel },
        error,
      ),
    );
  }
}
