import { Injectable } from '@nestjs/common';
import { Ids } from '../common/ids.js';
import type { Transaction } from '../database/database.js';
import { EventLog } from '../events/event-log.repository.js';
import { notifyDeliveryReady } from '../targets/delivery-ready.js';
import type { LockedTarget } from '../targets/target.repository.js';
import type { Notice } from './call-notice.js';
import { DeliverableRepository } from './deliverable.repository.js';
import { NotificationRepository } from './notification.repository.js';
import type { Suppression } from './suppression.js';

/** Where a call leaves what it has to tell. */
@Injectable()
export class NotificationOutbox {
  constructor(
    private readonly ids: Ids,
    private readonly notifications: NotificationRepository,
    private readonly deliverable: DeliverableRepository,
    private readonly events: EventLog,
  ) {}

  /**
   * Records the one notification of an ended call, or of a question, in the transaction in which that
   * happens. The target is told in the order in which its lock was taken. A second notification of the
   * same is refused by the database.
   */
  async record(tx: Transaction, target: LockedTarget, notice: Notice): Promise<void> {
    await this.notifications.place(tx, { id: this.ids.uuid(), targetId: target.id, notice });
    await notifyDeliveryReady(tx, target);
  }

  /** The question of a call is closed: if it is in no message yet, it never will be. */
  async suppressQuestion(
    tx: Transaction,
    target: LockedTarget,
    callId: string,
    reason: Suppression,
  ): Promise<void> {
    const suppressed = await this.notifications.suppressQuestions(tx, callId, reason);
    await this.recordSuppressed(tx, target, callId, suppressed, reason);
  }

  /** Nobody needs to be told that the call ended: if that is in no message yet, it never will be. */
  async suppressEnd(
    tx: Transaction,
    target: LockedTarget,
    callId: string,
    reason: Suppression,
  ): Promise<void> {
    const suppressed = await this.notifications.suppressEnd(tx, callId, reason);
    await this.recordSuppressed(tx, target, callId, suppressed, reason);
  }

  private async recordSuppressed(
    tx: Transaction,
    { id: targetId, appId }: LockedTarget,
    callId: string,
    suppressed: string[],
    reason: Suppression,
  ): Promise<void> {
    if (suppressed.length === 0) return;
    await this.deliverable.settle(tx, targetId);
    await this.events.appendAll(
      tx,
      suppressed.map((notificationId) => ({
        ...{ appId, targetId, callId },
        type: 'notification.suppressed' as const,
        data: { notificationId, reason },
      })),
    );
  }
}
