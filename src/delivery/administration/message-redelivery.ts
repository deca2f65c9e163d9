import { Injectable } from '@nestjs/common';
import { NotFoundError } from '../../common/domain-error.js';
import { Database, type Transaction } from '../../database/database.js';
import { EventLog } from '../../events/event-log.repository.js';
import { notifyDeliveryReady } from '../../targets/delivery-ready.js';
import type { LockedTarget } from '../../targets/target.repository.js';
import { MessageDiscardedError } from '../delivery.errors.js';
import { DeliveryJournal } from '../delivery-journal.js';
import { MessageListRepository } from './message-list.repository.js';
import type { MessageSummary } from './message-summary.js';
import {
  type DeadLetter,
  type RedeliveredMessage,
  RedeliveryRepository,
} from './redelivery.repository.js';

/** In one transaction, which locks as many targets. */
const BATCH = 100;
/** In one request. */
const MOST = 10_000;

/** Which dead letters are sent again. */
interface DeadLetters {
  /** Made then or later. */
  since: Date;
  /** UUID; undefined: of all apps. */
  appId: string | undefined;
}

/**
 * Sends messages again, under their ids and with their bodies: who has one already can tell. A target is
 * told one thing at a time: while a message of it is out, what is sent again is held back. It comes next,
 * the oldest first, before anything that was not told yet.
 */
@Injectable()
export class MessageRedelivery {
  constructor(
    private readonly database: Database,
    private readonly messages: MessageListRepository,
    private readonly redeliveries: RedeliveryRepository,
    private readonly events: EventLog,
    private readonly journal: DeliveryJournal,
  ) {}

  /**
   * A dead letter, or what was delivered already, is pending again. What waits for its next try is due
   * now. A message that is out, or held back, stays as it is: to ask twice is to ask once.
   * @throws NotFoundError
   * @throws MessageDiscardedError
   */
  async redeliver(id: string): Promise<MessageSummary> {
    const { again, summary } = await this.database.transaction(async (tx) => {
      const targets = await this.redeliveries.lockTargets(tx, [id]);
      const again = await this.sendAgain(tx, targets, [id]);
      if (again.length === 0) await this.hurry(tx, targets, id);
      const found = await this.messages.find(tx, id);
      if (found === undefined) throw new NotFoundError();
      if (found.summary.state === 'discarded') throw new MessageDiscardedError();
      return { again, summary: found.summary };
    });
    for (const message of again) this.journal.redelivered(message);
    return summary;
  }

  /**
   * Sends dead letters again, the oldest first, in transactions of 100. `hasMore`: there are more than
   * 10000, and asking again goes on.
   */
  async redeliverDead(which: DeadLetters): Promise<{ redelivered: number; hasMore: boolean }> {
    let redelivered = 0;
    let after: DeadLetter | undefined;
    // Always forward: what dies again meanwhile is not sent once more by the same request.
    for (let looked = 0; looked < MOST; looked += BATCH) {
      const batch = await this.redeliveries.listDead(this.database, which, after, BATCH);
      redelivered += await this.redeliverBatch(batch.map(({ id }) => id));
      after = batch.at(-1);
      if (batch.length < BATCH) return { redelivered, hasMore: false };
    }
    const rest = await this.redeliveries.listDead(this.database, which, after, 1);
    return { redelivered, hasMore: rest.length > 0 };
  }

  private async redeliverBatch(ids: string[]): Promise<number> {
    if (ids.length === 0) return 0;
    const again = await this.database.transaction(async (tx) =>
      this.sendAgain(tx, await this.redeliveries.lockTargets(tx, ids), ids),
    );
    for (const message of again) this.journal.redelivered(message);
    return again.length;
  }

  private async sendAgain(
    tx: Transaction,
    targets: LockedTarget[],
    ids: string[],
  ): Promise<RedeliveredMessage[]> {
    const again = await this.redeliveries.redeliver(tx, ids);
    const byId = new Map(targets.map((target) => [target.id, target]));
    const told = again.map((message) => ({ message, target: targetOf(byId, message) }));
    await this.events.appendAll(
      tx,
      told.map(({ message, target }) => ({
        appId: target.appId,
        targetId: target.id,
        type: 'message.pending' as const,
        data: {
          messageId: message.id,
          notifications: message.callIds.length,
          redelivered: true,
        },
      })),
    );
    for (const target of new Set(told.map(({ target }) => target)))
      await notifyDeliveryReady(tx, target);
    return again;
  }

  private async hurry(tx: Transaction, targets: LockedTarget[], id: string): Promise<void> {
    if (!(await this.redeliveries.hurry(tx, id))) return;
    for (const target of targets) await notifyDeliveryReady(tx, target);
  }
}

function targetOf(
  targets: Map<number, LockedTarget>,
  { id, targetId }: RedeliveredMessage,
): LockedTarget {
  const target = targets.get(targetId);
  if (target === undefined) throw new Error(`The target of the message ${id} is not locked.`);
  return target;
}
