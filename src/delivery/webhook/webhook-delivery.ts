import { Injectable } from '@nestjs/common';
import { AppDirectory } from '../../apps/app.directory.js';
import type { App } from '../../apps/app.js';
import { Clock } from '../../common/clock.js';
import { DatabaseUnavailableError } from '../../common/domain-error.js';
import { toPublicId } from '../../common/ids.js';
import { Settings } from '../../settings/settings.js';
import type { HandedOutMessage } from '../message.repository.js';
import type { SendResult } from './send-outcome.js';
import { WebhookJournal } from './webhook-journal.js';
import { WebhookSettlement } from './webhook-settlement.js';
import { WebhookTimes } from './webhook-times.js';
import { WebhookSender } from './webhook.sender.js';

const HOUR_MS = 3_600_000;

/** A message that was claimed, to be sent by this process alone until its time is over. */
export interface ClaimedMessage {
  app: App;
  message: HandedOutMessage;
  /** On the monotonic clock, taken before the claim. */
  claimedAtMs: number;
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
    private readonly clock: Clock,
    private readonly times: WebhookTimes,
  ) {}

  /** Whatever happens, it does not throw; `leaving` breaks the try off and gives the message back. */
  async deliver(claimed: ClaimedMessage, leaving: AbortSignal): Promise<void> {
    const { app, message, claimedAtMs } = claimed;
    this.journal.handedOut(message);
    const { traceparent } = JSON.parse(message.body) as { traceparent: string | null };
    const webhook = { id: toPublicId('msg', message.id), body: message.body, traceparent };
    const limitMs = claimedAtMs + this.times.sendMs - this.clock.monotonicMs();
    const result = await this.sender.send(app.delivery, webhook, { limitMs, leaving });
    this.journal.tried(app.id, message, result);
    await this.settle(claimed, result, leaving);
  }

  /** While the database is away it is tried again, as long as nobody else may send the message. */
  private async settle(
    { app, message, claimedAtMs }: ClaimedMessage,
    result: SendResult,
    leaving: AbortSignal,
  ): Promise<void> {
    const untilMs = claimedAtMs + this.times.sendMs + this.times.marginMs;
    const now = {
      maxAgeMs: this.settings.current.delivery.maxAgeHours * HOUR_MS,
      isConfiguredAnew: !this.isStillConfigured(app),
    };
    const terms = {
      onAway: (error: Error): void => this.journal.notSettled(message, error),
      isWanted: (): boolean => this.clock.monotonicMs() < untilMs,
      stop: leaving,
    };
    try {
      const settled = await this.settlement.settle(message, result, now, terms);
      this.journal.settled(message, settled);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError)) this.journal.notSettled(message, error);
    }
  }

  private isStillConfigured({ id, delivery: { mode, url } }: App): boolean {
    const now = this.apps.byId(id)?.delivery;
    return now?.mode === mode && now.url === url;
  }
}
