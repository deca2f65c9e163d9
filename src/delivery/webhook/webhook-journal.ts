import { Injectable } from '@nestjs/common';
import { Logger } from '../../common/logger.js';
import { MetricsRegistry } from '../../metrics/metrics.registry.js';
import { DeliveryJournal } from '../delivery-journal.js';
import type { HandedOutMessage } from '../message.repository.js';
import type { SendResult } from '../sending/send-outcome.js';
import type { Settled } from './webhook-settlement.js';

const DURATIONS_SEC = [0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 15];

/** What the log and the figures keep of webhooks. */
@Injectable()
export class WebhookJournal {
  private readonly durations;
  private readonly overtaken;

  constructor(
    registry: MetricsRegistry,
    private readonly deliveries: DeliveryJournal,
    private readonly logger: Logger,
  ) {
    this.durations = registry.histogram({
      name: 'bgc_webhook_duration_seconds',
      help: 'How long the tries of webhooks took, by what became of them',
      labelNames: ['outcome'],
      buckets: DURATIONS_SEC,
    });
    this.overtaken = registry.counter({
      name: 'bgc_webhooks_overtaken_total',
      help: 'Tries of webhooks that took so long that another one was made meanwhile',
    });
  }

  handedOut(message: HandedOutMessage): void {
    this.deliveries.handedOut(message);
  }

  tried(appId: string, message: HandedOutMessage, result: SendResult): void {
    const { outcome, status, durationMs, error } = result;
    this.durations.observe({ outcome: outcome.kind }, durationMs / 1_000);
    if (error === null) return;
    const isBad = outcome.kind === 'failed' || outcome.kind === 'gone';
    const fields = { appId, messageId: message.id, outcome: outcome.kind, status, durationMs };
    if (isBad) this.logger.warn('webhook.tried', { ...fields, error });
    else this.logger.info('webhook.tried', { ...fields, error });
  }

  settled({ id: messageId }: HandedOutMessage, settled: Settled | 'overtaken'): void {
    if (settled === 'overtaken') {
      this.overtaken.inc();
      this.logger.info('webhook.overtaken', { messageId });
      return;
    }
    const { step, ended } = settled;
    if (ended === undefined) return;
    if (step.kind === 'dead') this.deliveries.dead(ended, step.reason);
    else this.deliveries.acknowledged(ended);
  }

  /** Unless a further try to write it down succeeds, the message comes again when its time is over. */
  notSettled({ id: messageId }: HandedOutMessage, error: unknown): void {
    this.logger.warn('webhook.not_settled', { messageId }, error);
  }

  /** The message comes again when its time is over. */
  refused({ id: messageId }: HandedOutMessage, error: unknown): void {
    this.logger.error('webhook.settlement_failed', { messageId }, error);
  }
}
