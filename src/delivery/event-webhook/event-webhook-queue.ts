import { Injectable } from '@nestjs/common';
import type { App } from '../../apps/app.js';
import { Clock } from '../../common/clock.js';
import { Database } from '../../database/database.js';
import { SendTimes } from '../sending/send-times.js';
import { SendWindow } from '../sending/send-window.js';
import { EventDeliveryRepository } from './event-delivery.repository.js';
import type { ClaimedEvent } from './event-webhook-delivery.js';

/** Events that a change of an app reaches with one statement, and statements of a tick. */
const BATCH = 1_000;
const BATCHES = 10;

/** Events that can be sent, for whichever process takes it first. */
@Injectable()
export class EventWebhookQueue {
  constructor(
    private readonly deliveries: EventDeliveryRepository,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly times: SendTimes,
  ) {}

  /** A change of an app is not held up by its backlog: that follows here, at each tick of each replica a part. */
  async catchUp(): Promise<void> {
    for (let batch = 0; batch < BATCHES; batch++)
      if ((await this.deliveries.catchUp(this.database, BATCH)) < BATCH) return;
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
