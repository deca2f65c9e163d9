import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { KeyedWaiters } from '../../common/keyed-waiters.js';
import { Logger } from '../../common/logger.js';
import { outsideRequestContext } from '../../common/request-context.js';
import { ChannelListener } from '../../database/channel-listener.js';
import { Database } from '../../database/database.js';
import { DeliverableRepository } from '../deliverable.repository.js';
import { type DeliveryScope, scopeKey, scopeKeysOfTarget } from './delivery-scope.js';

/** How late something may be noticed that becomes due by time alone, or whose telling was lost. */
const TICK_MS = 500;

/**
 * Long polls for messages. They are woken when a replica tells that something is ready; one tick for all
 * of them asks what time alone made ready: a visibility that is over, a turn that has run out.
 */
@Injectable()
export class DeliveryWaiters implements OnModuleInit, OnApplicationShutdown {
  private readonly waiters = new KeyedWaiters();
  private readonly scopes = new Map<string, DeliveryScope>();
  private timer: NodeJS.Timeout | undefined;
  private isTicking = false;
  private stopped = false;

  constructor(
    private readonly database: Database,
    private readonly deliverable: DeliverableRepository,
    private readonly channels: ChannelListener,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.channels.on('bgc_delivery_ready', (key) => {
      for (const scope of scopeKeysOfTarget(key)) this.waiters.wake(scope);
    });
    this.channels.onReconnect(() => this.waiters.wakeAll());
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** How many scopes are polled at the moment. */
  get size(): number {
    return this.waiters.size;
  }

  /** Calls `look` until it finds something, `waitMs` is over (undefined) or `signal` aborts (undefined). */
  async until<T>(
    scope: DeliveryScope,
    waitMs: number,
    signal: AbortSignal,
    look: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const key = scopeKey(scope);
    this.scopes.set(key, scope);
    const found = this.waiters.until(key, waitMs, signal, look);
    this.tickLater();
    return found;
  }

  private tickLater(): void {
    if (this.isTicking || this.stopped) return;
    this.isTicking = true;
    this.timer = outsideRequestContext(() => setTimeout(() => void this.tick(), TICK_MS));
  }

  private async tick(): Promise<void> {
    const scopes = this.waitedFor();
    try {
      if (scopes.length > 0) {
        const due = await this.deliverable.findDue(this.database, scopes);
        for (const scope of due) this.waiters.wake(scopeKey(scope));
      }
    } catch (error) {
      this.logger.warn('delivery.tick_failed', { scopes: scopes.length }, error);
    }
    this.isTicking = false;
    if (this.waiters.size > 0) this.tickLater();
  }

  /** Forgets the scopes that nobody waits for any more. */
  private waitedFor(): DeliveryScope[] {
    const keys = new Set(this.waiters.keys());
    for (const key of this.scopes.keys()) if (!keys.has(key)) this.scopes.delete(key);
    return [...this.scopes.values()];
  }
}
