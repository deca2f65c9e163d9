import { Injectable } from '@nestjs/common';
import type { App } from '../../apps/app.js';
import { Clock } from '../../common/clock.js';
import { Database } from '../../database/database.js';
import { WebhookTimes } from '../webhook/webhook-times.js';
import { EventDeliveryRepository } from './event-delivery.repository.js';
import type { ClaimedEvent } from './event-webhook-delivery.js';

/** Events that can be sent, for whichever process takes it first. */
@Injectable()
export class EventWebhookQueue {
  constructor(
    private readonly deliveries: EventDeliveryRepository,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly times: WebhookTimes,
  ) {}

  async dueApps(appIds: string[]): Promise<string[]> {
    return appIds.length === 0 ? [] : this.deliveries.findDueApps(this.database, appIds);
  }

  async claim(app: App, limit: number): Promise<ClaimedEvent[]> {
    const claimedAtMs = this.clock.monotonicMs();
    const hiddenSec = (this.times.sendMs + this.times.marginMs) / 1_000;
    const due = await this.deliveries.claim(this.database, app.id, limit, hiddenSec);
    return due.map((each) => ({ app, due: each, claimedAtMs }));
  }
}
