import { Injectable } from '@nestjs/common';
import { Database, type Transaction } from '../../database/database.js';
import { InstanceLease } from '../../instances/instance-lease.js';
import { type LockedTarget, TargetRepository } from '../../targets/target.repository.js';
import type { BackgroundCall } from '../background-call.js';
import { CallJournal } from '../call-journal.js';
import { InputRequestRegistry } from '../questions/input-request.registry.js';
import { type TakenCall, TakeOverRepository } from './take-over.repository.js';

/** The change of owner of a call, with its event. Lock order: target, then call. */
@Injectable()
export class TakeOverRegistry {
  constructor(
    private readonly database: Database,
    private readonly takeOvers: TakeOverRepository,
    private readonly targets: TargetRepository,
    private readonly inputRequests: InputRequestRegistry,
    private readonly journal: CallJournal,
    private readonly lease: InstanceLease,
  ) {}

  /**
   * Makes this process the owner of a call whose owner is gone; it runs on with its deadline and what it has told.
   * Undefined when somebody else was faster, or there is nothing to go on with.
   * @throws CommitOutcomeUnknownError, DatabaseUnavailableError
   */
  async takeOver(call: Pick<BackgroundCall, 'id' | 'targetId'>): Promise<TakenCall | undefined> {
    const taken = await this.database.transaction(async (tx) => {
      const target = await this.targets.lockById(tx, call.targetId);
      const found = await this.takeOvers.takeOver(tx, call.id, this.lease.instanceId);
      if (found && !found.wasOurs) await this.recordTaken(tx, target, found.call);
      return found;
    });
    if (taken) this.journal.takenOver(taken.call);
    return taken;
  }

  /** A question of the old owner is nobody's any more; the upstream asks the new one. */
  private async recordTaken(
    tx: Transaction,
    target: LockedTarget,
    call: BackgroundCall,
  ): Promise<void> {
    if (call.questions > 0) await this.inputRequests.closeWithin(tx, target, call.id, 'owner_gone');
    await this.journal.record(tx, call, 'background_call.resumed', { reason: 'owner_gone' });
  }
}
