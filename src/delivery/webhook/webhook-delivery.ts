import { Injectable } from '@nestjs/common';
import { AppDirectory } from '../../apps/app.directory.js';
import type { App } from '../../apps/app.js';
import { toPublicId } from '../../common/ids.js';
import { Settings } from '../../settings/settings.js';
import type { HandedOutMessage } from '../message.repository.js';
import type { Claimed } from '../sending/app-relay.js';
import type { SendResult } from '../sending/send-outcome.js';
import { WebhookSender } from '../sending/webhook.sender.js';
import { WebhookJournal } from './webhook-journal.js';
import { WebhookSettlement } from './webhook-settlement.js';

/** A message that was claimed, to be sent by this process alone until its time is over. */
export interface ClaimedMessage extends Claimed {
  message: HandedOutMessage;
}

/** Sends one claimed message and settles what became of it. */
@Injectable()
export class WebhookDelivery {
  constructor(
    private readonly sender: WebhookSender,
    private readonly settlement: WebhookSettlement,
    private readonly apps: AppDirectory,
    private readonly settings: Settings,
    private readonly journal: WebhookJournal,
  ) {}

  /** Whatever happens, it does not throw; `leaving` breaks the try off and gives the message back. */
  async deliver(claimed: ClaimedMessage, leaving: AbortSignal): Promise<void> {
    const { app, message, window } = claimed;
    this.journal.handedOut(message);
    const { traceparent } = JSON.parse(message.body) as { traceparent: string | null };
    const webhook = { id: toPublicId('msg', message.id), body: message.body, traceparent };
    const limits = { limitMs: window.leftToSendMs, leaving };
    const result = await this.sender.send(app.delivery, webhook, limits);
    this.journal.tried(app.id, message, result);
    await this.settle(claimed, result, leaving);
  }

  /** While the database is away it is tried again, as long as nobody else may send the message. */
  private async settle(
    { app, message, window }: ClaimedMessage,
    result: SendResult,
    leaving: AbortSignal,
  ): Promise<void> {
    const now = {
      maxAgeHours: this.settings.current.delivery.maxAgeHours,
      isConfiguredAnew: !this.isStillConfigured(app),
    };
    const settled = await this.settlement.settle(message, result, now, {
      onAway: (error) => this.journal.notSettled(message, error),
      onRefused: (error) => this.journal.refused(message, error),
      isWanted: () => window.isOpen,
      stop: leaving,
    });
    if (settled) this.journal.settled(message, settled);
  }

  private isStillConfigured({ id, delivery: { mode, url } }: App): boolean {
    const now = this.apps.byId(id)?.delivery;
    return now?.mode === mode && now.url === url;
  }
}
