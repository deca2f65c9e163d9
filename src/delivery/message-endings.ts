import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/database.js';
import { EventLog } from '../events/event-log.repository.js';
import { notifyDeliveryReady } from '../targets/delivery-ready.js';
import type { LockedTarget } from '../targets/target.repository.js';
import { TurnService } from '../targets/turn.service.js';
import { DeliverableRepository } from './deliverable.repository.js';
import type { DeadReason } from './message-state.js';
import { type EndedMessage, MessageRepository } from './message.repository.js';

/** How a message ends. */
type MessageEnding =
  /** With `turnId` that turn begins in the same step, so that no other message falls into it. */
  | { state: 'delivered'; turnId?: string | undefined }
  | { state: 'dead'; reason: DeadReason }
  /** Nobody is to be told. */
  | { state: 'discarded' };

/** The one place where a message ends, however that comes about. */
@Injectable()
export class MessageEndings {
  constructor(
    private readonly messages: MessageRepository,
    private readonly deliverable: DeliverableRepository,
    private readonly turns: TurnService,
    private readonly events: EventLog,
  ) {}

  /**
   * Ends a message of the locked target, writes the event and, if it was the one that is out, lets the
   * next one go out. Undefined, and nothing happens, when it had ended already.
   */
  async end(
    tx: Transaction,
    target: LockedTarget,
    messageId: string,
    ending: MessageEnding,
  ): Promise<EndedMessage | undefined> {
    const reason = ending.state === 'dead' ? ending.reason : undefined;
    const ended = await this.messages.end(tx, messageId, ending.state, reason);
    if (ended === undefined) return undefined;
    const hasMore = ended.wasOut && (await this.deliverable.goOn(tx, target.id));
    await this.events.append(tx, {
      appId: target.appId,
      targetId: target.id,
      type: `message.${ending.state}`,
      data: { messageId, reason },
    });
    if (ending.state === 'delivered' && ending.turnId !== undefined)
      await this.turns.startIn(tx, target, ending.turnId);
    if (hasMore) await notifyDeliveryReady(tx, target);
    return ended;
  }
}
