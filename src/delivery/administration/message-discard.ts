import { Injectable } from '@nestjs/common';
import { NotFoundError } from '../../common/domain-error.js';
import { Database } from '../../database/database.js';
import { TargetRepository } from '../../targets/target.repository.js';
import { MessageDeliveredError } from '../delivery.errors.js';
import { DeliveryJournal } from '../delivery-journal.js';
import { MessageEndings } from '../message-endings.js';
import { MessageListRepository } from './message-list.repository.js';
import type { MessageSummary } from './message-summary.js';

/** Takes messages out of the delivery for good. The calls of which they tell keep their results. */
@Injectable()
export class MessageDiscard {
  constructor(
    private readonly database: Database,
    private readonly messages: MessageListRepository,
    private readonly targets: TargetRepository,
    private readonly endings: MessageEndings,
    private readonly journal: DeliveryJournal,
  ) {}

  /**
   * A message that is pending, also one that a receiver has at this moment, or a dead letter. The next one
   * of its target goes on. May be repeated.
   * @throws NotFoundError
   * @throws MessageDeliveredError
   */
  async discard(id: string): Promise<MessageSummary> {
    const { ended, summary } = await this.database.transaction(async (tx) => {
      const target = await this.targets.lockById(tx, (await this.find(tx, id)).targetId);
      const ended = await this.endings.end(tx, target, id, { state: 'discarded' });
      const summary = await this.find(tx, id);
      if (summary.state === 'delivered') throw new MessageDeliveredError();
      return { ended, summary };
    });
    if (ended !== undefined) this.journal.discarded(ended);
    return summary;
  }

  private async find(
    tx: Parameters<MessageListRepository['find']>[0],
    id: string,
  ): Promise<MessageSummary> {
    const found = await this.messages.find(tx, id);
    if (found === undefined) throw new NotFoundError();
    return found.summary;
  }
}
