import { Injectable } from '@nestjs/common';
import { AppDirectory } from '../../apps/app.directory.js';
import type { App } from '../../apps/app.js';
import { Drain } from '../../common/drain.js';
import { Logger } from '../../common/logger.js';
import { ChannelListener } from '../../database/channel-listener.js';
import { AppRelay } from '../sending/app-relay.js';
import { SendTimes } from '../sending/send-times.js';
import { type ClaimedEvent, EventWebhookDelivery } from './event-webhook-delivery.js';
import { EventWebhookQueue } from './event-webhook-queue.js';

/** Sends events to the apps that want to be told of them. */
@Injectable()
export class EventWebhookRelay extends AppRelay<ClaimedEvent> {
  protected readonly channel = 'bgc_event_deliveries';
  protected readonly logName = 'event_webhook';

  constructor(
    private readonly queue: EventWebhookQueue,
    private readonly delivery: EventWebhookDelivery,
    apps: AppDirectory,
    channels: ChannelListener,
    drain: Drain,
    logger: Logger,
    times: SendTimes,
  ) {
    super(apps, channels, drain, logger, times);
  }

  protected appOf(payload: string): string {
    return payload;
  }

  protected sendsTo({ events }: App): boolean {
    return events !== null;
  }

  protected async dueApps(appIds: string[]): Promise<string[]> {
    await this.queue.catchUp();
    return this.queue.dueApps(appIds);
  }

  protected claim(app: App, limit: number): Promise<ClaimedEvent[]> {
    return this.queue.claim(app, limit);
  }

  protected deliver(claimed: ClaimedEvent, leaving: AbortSignal): Promise<void> {
    return this.delivery.deliver(claimed, leaving);
  }
}
