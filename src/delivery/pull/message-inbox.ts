import { Injectable } from '@nestjs/common';
import { AppDirectory } from '../../apps/app.directory.js';
import { Drain } from '../../common/drain.js';
import { Logger } from '../../common/logger.js';
import { DeliveryByWebhookError } from '../delivery.errors.js';
import { DeliveryJournal } from '../delivery-journal.js';
import { DeliveryWaiters } from './delivery-waiters.js';
import type { DeliveryScope } from './delivery-scope.js';
import { MessageClaims } from '../message-claims.js';
import type { HandedOutMessage } from '../message.repository.js';

/** Pull delivery: a receiver asks, and waits, for messages. */
@Injectable()
export class MessageInbox {
  constructor(
    private readonly apps: AppDirectory,
    private readonly claims: MessageClaims,
    private readonly waiters: DeliveryWaiters,
    private readonly drain: Drain,
    private readonly journal: DeliveryJournal,
    private readonly logger: Logger,
  ) {}

  /**
   * Hands out what there is, waiting up to `waitMs` for something to come. Empty when the time is over,
   * when this process is leaving, when the app changes to webhooks meanwhile, and when the receiver has
   * gone: then nothing stays hidden because of it.
   * @throws DeliveryByWebhookError while the messages of the app are sent to its URL.
   */
  async poll(
    scope: DeliveryScope,
    waitMs: number,
    receiverGone: AbortSignal,
  ): Promise<HandedOutMessage[]> {
    if (!this.isPulled(scope)) throw new DeliveryByWebhookError();
    const signal = AbortSignal.any([receiverGone, this.drain.signal]);
    const look = (): Promise<HandedOutMessage[] | undefined> => this.look(scope, receiverGone);
    const found = waitMs > 0 ? this.waiters.until(scope, waitMs, signal, look) : look();
    return (await found) ?? [];
  }

  /** For messages that were claimed and could not be sent: the receiver must not wait for them. */
  async giveBack(messages: HandedOutMessage[]): Promise<void> {
    for (const message of messages) {
      try {
        await this.claims.giveBack(message);
      } catch (error) {
        // It comes again when its visibility is over.
        this.logger.warn('delivery.give_back_failed', { messageId: message.id }, error);
      }
    }
  }

  private async look(
    scope: DeliveryScope,
    receiverGone: AbortSignal,
  ): Promise<HandedOutMessage[] | undefined> {
    if (receiverGone.aborted) return undefined;
    if (!this.isPulled(scope)) return [];
    const messages = await this.claims.claim(scope);
    for (const message of messages) this.journal.handedOut(message);
    if (receiverGone.aborted) {
      await this.giveBack(messages);
      return undefined;
    }
    return messages.length === 0 ? undefined : messages;
  }

  private isPulled({ appId }: DeliveryScope): boolean {
    return this.apps.byId(appId)?.delivery.mode !== 'webhook';
  }
}
