import { Injectable } from '@nestjs/common';
import { AppDirectory } from '../../apps/app.directory.js';
import type { App } from '../../apps/app.js';
import { Drain } from '../../common/drain.js';
import { Logger } from '../../common/logger.js';
import { ChannelListener } from '../../database/channel-listener.js';
import { appOfTargetKey } from '../../targets/target-address.js';
import { AppRelay } from '../sending/app-relay.js';
import { type ClaimedMessage, WebhookDelivery } from './webhook-delivery.js';
import { WebhookQueue } from './webhook-queue.js';
import { SendTimes } from '../sending/send-times.js';

/** Sends the messages of apps with webhooks. */
@Injectable()
export class WebhookRelay extends AppRelay<ClaimedMessage> {
  protected readonly channel = 'bgc_delivery_ready';
  protected readonly logName = 'webhook';

  constructor(
    private readonly queue: WebhookQueue,
    private readonly delivery: WebhookDelivery,
    apps: AppDirectory,
    channels: ChannelListener,
    drain: Drain,
    logger: Logger,
    times: SendTimes,
  ) {
    super(apps, channels, drain, logger, times);
  }

  protected appOf(payload: string): string {
    return appOfTargetKey(payload);
  }

  protected sendsTo({ delivery }: App): boolean {
    return delivery.mode === 'webhook';
  }

  protected dueApps(appIds: string[]): Promise<string[]> {
    return this.queue.dueApps(appIds);
  }

  protected claim(app: App, limit: number): Promise<ClaimedMessage[]> {
    return this.queue.claim(app, limit);
  }

  protected deliver(claimed: ClaimedMessage, leaving: AbortSignal): Promise<void> {
    return this.delivery.deliver(claimed, leaving);
  }
}
