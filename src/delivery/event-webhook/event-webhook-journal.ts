import { Injectable } from '@nestjs/common';
import { Logger } from '../../common/logger.js';
import { MetricsRegistry } from '../../metrics/metrics.registry.js';
import type { NextStep } from '../sending/next-step.js';
import type { SendResult } from '../sending/send-outcome.js';
import type { DueEvent } from './event-delivery.repository.js';

/** What the log and the figures keep of events that are sent. */
@Injectable()
export class EventWebhookJournal {
  private readonly tries;
  private readonly givenUp;
  private readonly overtaken;

  constructor(
    registry: MetricsRegistry,
    private readonly logger: Logger,
  ) {
    this.tries = registry.counter({
      name: 'bgc_event_webhook_tries_total',
      help: 'Tries to send an event to the URL of its app, by what became of them',
      labelNames: ['outcome'],
    });
    this.givenUp = registry.counter({
      name: 'bgc_event_webhooks_given_up_total',
      help: 'Events that are not sent any more, by why',
      labelNames: ['reason'],
    });
    this.overtaken = registry.counter({
      name: 'bgc_event_webhooks_overtaken_total',
      help: 'Tries to send an event that took so long that another one was made meanwhile',
    });
  }

  tried({ event }: DueEvent, { outcome, status, durationMs, error }: SendResult): void {
    this.tries.inc({ outcome: outcome.kind });
    if (error === null) return;
    const isBad = outcome.kind === 'failed' || outcome.kind === 'gone';
    const fields = { eventId: event.sequence, outcome: outcome.kind, status, durationMs, error };
    this.logger[isBad ? 'warn' : 'info']('event_webhook.tried', fields);
  }

  settled({ event }: DueEvent, step: NextStep | 'overtaken'): void {
    if (step === 'overtaken') {
      this.overtaken.inc();
      this.logger.info('event_webhook.overtaken', { eventId: event.sequence });
      return;
    }
    if (step.kind !== 'dead') return;
    const { reason } = step;
    this.givenUp.inc({ reason });
    this.logger.warn('event_webhook.given_up', { eventId: event.sequence, reason });
  }

  /** Unless a further try to write it down succeeds, the event comes again when its time is over. */
  notSettled({ event }: DueEvent, error: unknown): void {
    this.logger.warn('event_webhook.not_settled', { eventId: event.sequence }, error);
  }

  /** The event comes again when its time is over. */
  refused({ event }: DueEvent, error: unknown): void {
    this.logger.error('event_webhook.settlement_failed', { eventId: event.sequence }, error);
  }
}
