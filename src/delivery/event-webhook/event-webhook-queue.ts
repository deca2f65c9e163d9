import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { App } from '../../apps/app.js';
import { AppService } from '../../apps/app.service.js';
import { Clock } from '../../common/clock.js';
import { Database } from '../../database/database.js';
import { SendTimes } from '../sending/send-times.js';
import { SendWindow } from '../sending/send-window.js';
import { EventDeliveryRepository } from './event-delivery.repository.js';
import type { ClaimedEvent } from './event-webhook-delivery.js';

/** Events that can be sent, for whichever process takes it first. */
@Injectable()
export class EventWebhookQueue implements OnModuleInit {
  constructor(
    private readonly deliveries: EventDeliveryRepository,
    private readonly database: Database,
    private readonly apps: AppService,
    private readonly clock: Clock,
    private readonly times: SendTimes,
  ) {}

  onModuleInit(): void {
    this.apps.onEventsUrlChange((tx, appId, events) =>
      events === null ? this.deliveries.forget(tx, appId) : this.deliveries.beginAnew(tx, appId),
    );
  }

  async dueApps(appIds: string[]): Promise<string[]> {
    return appIds.length === 0 ? [] : this.deliveries.findDueApps(this.database, appIds);
  }

  async claim(app: App, limit: number): Promise<ClaimedEvent[]> {
    const window = new SendWindow(this.clock, this.times);
    const hiddenSec = this.times.claimMs / 1_000;
    const due = await this.deliveries.claim(this.database, app.id, limit, hiddenSec);
    return due.map((each) => ({ app, due: each, window }));
  }
}
