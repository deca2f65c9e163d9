import { Injectable } from '@nestjs/common';
import { notifyChannel } from '../database/channel-listener.js';
import type { Transaction } from '../database/database.js';
import { NotificationOutbox } from '../delivery/notification-outbox.js';
import type { LockedTarget } from '../targets/target.repository.js';
import type { BackgroundCall } from './background-call.js';
import { CallJournal } from './call-journal.js';
import { toNotice } from './call-notice.js';
import type { TerminalStatus } from './call-status.js';
import { InputRequestRegistry } from './questions/input-request.registry.js';

/** What is written together with the terminal move of a call: its event, its notification, no open question. */
@Injectable()
export class CallEndRecorder {
  constructor(
    private readonly journal: CallJournal,
    private readonly outbox: NotificationOutbox,
    private readonly inputRequests: InputRequestRegistry,
  ) {}

  /** Once in the transaction of the move, which holds the target's lock. */
  async record(
    tx: Transaction,
    target: LockedTarget,
    ended: BackgroundCall,
    status: TerminalStatus,
  ): Promise<void> {
    if (ended.questions > 0)
      await this.inputRequests.closeWithin(tx, target, ended.id, 'call_ended');
    await this.journal.record(tx, ended, `background_call.${status}`);
    await this.outbox.record(tx, target, toNotice(ended));
    await notifyChannel(tx, 'bgc_call_ended', ended.id);
  }
}
