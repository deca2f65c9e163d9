import { Injectable } from '@nestjs/common';
import { Logger } from '../common/logger.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import type { RedeliveredMessage } from './administration/redelivery.repository.js';
import type { DeadReason } from './message-state.js';
import type { EndedMessage, HandedOutMessage } from './message.repository.js';

/** What the log and the figures keep of deliveries, once they are committed: a line for each call that is told. */
@Injectable()
export class DeliveryJournal {
  constructor(
    private readonly metrics: DeliveryMetrics,
    private readonly logger: Logger,
  ) {}

  handedOut({ id: messageId, attempts, handOut, told }: HandedOutMessage): void {
    for (const { callId, sinceEndMs } of told) {
      if (handOut === 1) this.metrics.observe('handed_out', sinceEndMs);
      this.logger.info('message.handed_out', { callId, messageId, attempts });
    }
  }

  acknowledged({ id: messageId, attempts, told, isRepeated }: EndedMessage): void {
    for (const { callId, sinceEndMs } of told) {
      // How late a person had it sent again is no figure of this service.
      if (!isRepeated) this.metrics.observe('acknowledged', sinceEndMs);
      this.logger.info('message.acknowledged', { callId, messageId, attempts });
    }
  }

  dead({ id: messageId, attempts, told }: EndedMessage, reason: DeadReason): void {
    this.metrics.countDead(reason);
    for (const { callId } of told)
      this.logger.warn('message.dead', { callId, messageId, attempts, reason });
  }

  discarded({ id: messageId, attempts, told }: EndedMessage): void {
    for (const { callId } of told)
      this.logger.info('message.discarded', { callId, messageId, attempts });
  }

  redelivered({ id: messageId, callIds }: RedeliveredMessage): void {
    for (const callId of callIds) this.logger.info('message.redelivered', { callId, messageId });
  }
}
