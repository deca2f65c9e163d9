import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { NotificationOutbox } from '../delivery/notification-outbox.js';
import { TargetRepository } from '../targets/target.repository.js';
import type { BackgroundCall } from './background-call.js';
import { NoResultError } from './background-call.errors.js';
import { CallReader } from './call-reader.js';
import { isTerminal } from './call-status.js';

/** The verb of a caller that has the result already, from reading it. */
@Injectable()
export class ReadMarker {
  constructor(
    private readonly database: Database,
    private readonly reader: CallReader,
    private readonly targets: TargetRepository,
    private readonly outbox: NotificationOutbox,
  ) {}

  /**
   * The end of the call is told in no message any more. One that is in a message stays there: a body never
   * changes. What the call asked before is no result and is not touched. May be repeated.
   * @throws NotFoundError
   * @throws NoResultError when the call has not ended: there is nothing yet that could have been read.
   */
  async markRead(id: string, appId: string): Promise<BackgroundCall> {
    const call = await this.reader.get(id, appId);
    if (!isTerminal(call.status)) throw new NoResultError(false);
    await this.database.transaction(async (tx) => {
      const target = await this.targets.lockById(tx, call.targetId);
      await this.outbox.suppressEnd(tx, target, id, 'already_read');
    });
    return call;
  }
}
