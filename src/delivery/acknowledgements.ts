import { Injectable } from '@nestjs/common';
import { NotFoundError } from '../common/domain-error.js';
import { Database } from '../database/database.js';
import { TargetRepository } from '../targets/target.repository.js';
import { DeliveryJournal } from './delivery-journal.js';
import { MessageEndings } from './message-endings.js';
import { MessageRepository, type StoredMessage } from './message.repository.js';

/** Receivers say here that they have a message. */
@Injectable()
export class Acknowledgements {
  constructor(
    private readonly database: Database,
    private readonly messages: MessageRepository,
    private readonly targets: TargetRepository,
    private readonly endings: MessageEndings,
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
      const first = await this.endings.end(tx, target, id, { state: 'delivered', turnId });
      // Somebody else's acknowledgement may have been committed while this one waited for the lock.
      const message = first ?? (await this.messages.findOfSessions(tx, appId, id)) ?? found;
      return { first, message };
    });
    if (first !== undefined) this.journal.acknowledged(first);
    return message;
  }
}
