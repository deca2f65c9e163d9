import { Injectable } from '@nestjs/common';
import { NotFoundError } from '../common/domain-error.js';
import { Database, type Transaction } from '../database/database.js';
import { EventLog } from '../events/event-log.repository.js';
import { notifyDeliveryReady } from '../targets/delivery-ready.js';
import { type LockedTarget, TargetRepository } from '../targets/target.repository.js';
import { TurnService } from '../targets/turn.service.js';
import { DeliverableRepository } from './deliverable.repository.js';
import { DeliveryJournal } from './delivery-journal.js';
import { MessageRepository, type StoredMessage } from './message.repository.js';

/** Receivers say here that they have a message. */
@Injectable()
export class Acknowledgements {
  constructor(
    private readonly database: Database,
    private readonly messages: MessageRepository,
    private readonly targets: TargetRepository,
    private readonly deliverable: DeliverableRepository,
    private readonly turns: TurnService,
    private readonly events: EventLog,
    private readonly journal: DeliveryJournal,
  ) {}

  /**
   * Ends the delivery of a message to a session of the app; repeating it changes nothing. With `turnId`
   * the first acknowledgement opens that turn in the same step, so that no other message falls into it.
   * @throws NotFoundError when no session of the app has such a message.
   */
  async acknowledge(appId: string, id: string, turnId?: string): Promise<StoredMessage> {
    const { first, message } = await this.database.transaction(async (tx) => {
      const found = await this.messages.findOfSessions(tx, appId, id);
      if (found === undefined) throw new NotFoundError();
      const target = await this.targets.lockById(tx, found.targetId);
      const first = await this.messages.acknowledge(tx, id);
      if (first !== undefined) await this.goOn(tx, target, id, turnId);
      // Somebody else's acknowledgement may have been committed while this one waited for the lock.
      const message = first ?? (await this.messages.findOfSessions(tx, appId, id)) ?? found;
      return { first, message };
    });
    if (first !== undefined) this.journal.acknowledged(first);
    return message;
  }

  private async goOn(
    tx: Transaction,
    target: LockedTarget,
    messageId: string,
    turnId: string | undefined,
  ): Promise<void> {
    const hasMore = await this.deliverable.goOn(tx, target.id);
    await this.events.append(tx, {
      appId: target.appId,
      targetId: target.id,
      type: 'message.delivered',
      data: { messageId },
    });
    if (turnId !== undefined) await this.turns.startIn(tx, target, turnId);
    if (hasMore) await notifyDeliveryReady(tx, target);
  }
}
