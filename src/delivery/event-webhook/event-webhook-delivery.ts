import { Injectable } from '@nestjs/common';
import type { Claimed } from '../sending/app-relay.js';
import type { SendResult } from '../sending/send-outcome.js';
import { WebhookSender } from '../sending/webhook.sender.js';
import type { DueEvent } from './event-delivery.repository.js';
import { eventWebhookBody, eventWebhookId } from './event-webhook-body.js';
import { EventWebhookJournal } from './event-webhook-journal.js';
import { EventWebhookSettlement } from './event-webhook-settlement.js';

/** An event that was claimed, to be sent by this process alone until its time is over. */
export interface ClaimedEvent extends Claimed {
  due: DueEvent;
}

/** Sends one claimed event and settles what became of it. */
@Injectable()
export class EventWebhookDelivery {
  constructor(
    private readonly sender: WebhookSender,
    private readonly settlement: EventWebhookSettlement,
    private readonly journal: EventWebhookJournal,
  ) {}

  /** Whatever happens, it does not throw; `leaving` breaks the try off and gives the event back. */
  async deliver(claimed: ClaimedEvent, leaving: AbortSignal): Promise<void> {
    const { app, due, window } = claimed;
    const webhook = {
      id: eventWebhookId(due.event.sequence),
      body: eventWebhookBody(due.event),
      traceparent: due.traceparent,
    };
    const to = { ...app.delivery, url: app.events?.url ?? null };
    const limits = { limitMs: window.leftToSendMs, leaving };
    const result = await this.sender.send(to, webhook, limits);
    this.journal.tried(due, result);
    await this.settle(claimed, result, leaving);
  }

  /** While the database is away it is tried again, as long as nobody else may send the event. */
  private async settle(
    { app, due, window }: ClaimedEvent,
    result: SendResult,
    stop: AbortSignal,
  ): Promise<void> {
    const step = await this.settlement.settle(app, due, result, {
      onAway: (error) => this.journal.notSettled(due, error),
      onRefused: (error) => this.journal.refused(due, error),
      isWanted: () => window.isOpen,
      stop,
    });
    if (step !== undefined) this.journal.settled(due, step);
  }
}
