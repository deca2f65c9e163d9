import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { App } from '../../apps/app.js';
import { AppService } from '../../apps/app.service.js';
import { Clock } from '../../common/clock.js';
import { Database } from '../../database/database.js';
import { DeliverableRepository } from '../deliverable.repository.js';
import { MessageClaims } from '../message-claims.js';
import { TriedMessageRepository } from './tried-message.repository.js';
import type { ClaimedMessage } from './webhook-delivery.js';
import { SendTimes } from '../sending/send-times.js';
import { SendWindow } from '../sending/send-window.js';

/** What can be sent, for whichever process takes it first. */
@Injectable()
export class WebhookQueue implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly deliverable: DeliverableRepository,
    private readonly claims: MessageClaims,
    private readonly tried: TriedMessageRepository,
    private readonly apps: AppService,
    private readonly clock: Clock,
    private readonly times: SendTimes,
  ) {}

  onModuleInit(): void {
    this.apps.onDeliveryChange((tx, appId) => this.tried.beginAnew(tx, appId));
  }

  /** Those of the apps that have something to be sent now. */
  async dueApps(appIds: string[]): Promise<string[]> {
    return appIds.length === 0 ? [] : this.deliverable.findDueApps(this.database, appIds);
  }

  /** Takes up to `limit` messages of the app; nobody else does until their time is over. */
  async claim(app: App, limit: number): Promise<ClaimedMessage[]> {
    const window = new SendWindow(this.clock, this.times);
    const messages = await this.claims.claimOfApp(app.id, limit, this.times.claimMs / 1_000);
    return messages.map((message) => ({ app, message, window }));
  }
}
