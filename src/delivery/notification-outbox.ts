import { Injectable } from '@nestjs/common';
import { Ids } from '../common/ids.js';
import type { Transaction } from '../database/database.js';
import { notifyDeliveryReady } from '../targets/delivery-ready.js';
import type { LockedTarget } from '../targets/target.repository.js';
import type { CallNotice } from './call-notice.js';
import { NotificationRepository } from './notification.repository.js';

/** Where the end of a call leaves what has to be told. */
@Injectable()
export class NotificationOutbox {
  constructor(
    private readonly ids: Ids,
    private readonly notifications: NotificationRepository,
  ) {}

  /**
   * Records the one notification of an ended call, in the transaction in which the call ends. The target
   * is told in the order in which its lock was taken. A second notification of a call is refused by the
   * database.
   */
  async record(tx: Transaction, target: LockedTarget, notice: CallNotice): Promise<void> {
    await this.notifications.place(tx, { id: this.ids.uuid(), targetId: target.id, notice });
    await notifyDeliveryReady(tx, target);
  }
}
