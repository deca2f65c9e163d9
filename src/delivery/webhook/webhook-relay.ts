import { setMaxListeners } from 'node:events';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppDirectory } from '../../apps/app.directory.js';
import type { App } from '../../apps/app.js';
import { Drain } from '../../common/drain.js';
import { Logger } from '../../common/logger.js';
import { outsideRequestContext } from '../../common/request-context.js';
import { within } from '../../common/within.js';
import { ChannelListener } from '../../database/channel-listener.js';
import { appOfTargetKey } from '../../targets/target-address.js';
import { SendSlots } from './send-slots.js';
import { type ClaimedMessage, WebhookDelivery } from './webhook-delivery.js';
import { WebhookQueue } from './webhook-queue.js';
import { WebhookTimes } from './webhook-times.js';

const AT_ONCE = 64;
const AT_ONCE_PER_APP = 16;

/**
 * Sends what apps with webhooks have to be told, side by side with the other replicas. It is woken when
 * a replica tells that something is ready; one tick for all apps finds what time alone made ready.
 */
@Injectable()
export class WebhookRelay implements OnApplicationShutdown {
  private readonly slots = new SendSlots(AT_ONCE, AT_ONCE_PER_APP);
  private readonly sends = new Set<Promise<void>>();
  private readonly leaving = new AbortController();
  /** Apps to look at, the longest waiting first. */
  private readonly due = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private passing: Promise<void> | undefined;
  private isToPassAgain = false;
  private isStopped = true;

  constructor(
    private readonly queue: WebhookQueue,
    private readonly apps: AppDirectory,
    private readonly delivery: WebhookDelivery,
    private readonly channels: ChannelListener,
    private readonly drain: Drain,
    private readonly logger: Logger,
    private readonly times: WebhookTimes,
  ) {}

  start(): void {
    // Each send listens, and there are never more of them than slots.
    setMaxListeners(AT_ONCE, this.leaving.signal);
    this.isStopped = false;
    this.channels.on('bgc_delivery_ready', (key) => this.look([appOfTargetKey(key)]));
    this.tickLater(0);
  }

  /**
   * Sends nothing more. What is under way may end within `waitMs`; the rest is broken off and given
   * back, for another replica or the next start to send at once.
   */
  async stop(waitMs = 0): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.passing;
    if (this.sends.size > 0 && waitMs > 0) await within(waitMs, Promise.all(this.sends));
    this.leaving.abort();
    await Promise.all(this.sends);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  private tickLater(ms: number): void {
    if (this.isStopped) return;
    this.timer = outsideRequestContext(() => setTimeout(() => void this.tick(), ms));
  }

  private async tick(): Promise<void> {
    const asked = this.apps.all().filter(sendsWebhooks);
    try {
      this.look(await this.queue.dueApps(asked.map(({ id }) => id)));
    } catch (error) {
      this.logger.warn('webhook.tick_failed', { apps: asked.length }, error);
    }
    this.tickLater(this.times.tickMs);
  }

  /** One pass at a time; what is told during a pass leads to another one. */
  private look(appIds: string[]): void {
    for (const appId of appIds) if (sendsWebhooks(this.apps.byId(appId))) this.due.add(appId);
    if (this.due.size === 0 || !this.takesWork) return;
    this.isToPassAgain = true;
    this.passing ??= outsideRequestContext(() => this.passes()).finally(() => {
      this.passing = undefined;
      if (this.isToPassAgain) this.look([]);
    });
  }

  private get takesWork(): boolean {
    return !this.isStopped && !this.drain.isDraining;
  }

  private async passes(): Promise<void> {
    while (this.isToPassAgain) {
      this.isToPassAgain = false;
      for (const appId of [...this.due]) if (this.takesWork) await this.sendOf(appId);
    }
  }

  private async sendOf(appId: string): Promise<void> {
    const app = this.apps.byId(appId);
    const free = this.slots.freeFor(appId);
    // Without a free slot it stays due: the end of each send leads to another look.
    if (sendsWebhooks(app) && free <= 0) return;
    this.due.delete(appId);
    if (!sendsWebhooks(app)) return;
    try {
      const claimed = await this.queue.claim(app, free);
      for (const each of claimed) this.send(each);
      if (claimed.length === free) this.look([appId]);
    } catch (error) {
      // The next tick finds it again.
      this.logger.warn('webhook.claim_failed', { appId }, error);
    }
  }

  private send(claimed: ClaimedMessage): void {
    const { app } = claimed;
    this.slots.take(app.id);
    const done = this.delivery.deliver(claimed, this.leaving.signal).finally(() => {
      this.slots.release(app.id);
      this.sends.delete(done);
      this.look([]);
    });
    this.sends.add(done);
  }
}

function sendsWebhooks(app: App | undefined): app is App {
  return app?.delivery.mode === 'webhook';
}
