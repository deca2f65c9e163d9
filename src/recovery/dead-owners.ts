import { Injectable } from '@nestjs/common';
import { grouped } from '../common/grouped.js';
import { Logger } from '../common/logger.js';
import { Database } from '../database/database.js';
import { InstanceLease } from '../instances/instance-lease.js';
import { InstanceRepository } from '../instances/instance.repository.js';
import { TargetRepository } from '../targets/target.repository.js';
import { SweepRepository, type SweptCall } from './sweep.repository.js';

/** Processes that were fenced or have left. They can still finish a transaction, and begin none. */
@Injectable()
export class DeadOwners {
  constructor(
    private readonly database: Database,
    private readonly lease: InstanceLease,
    private readonly instances: InstanceRepository,
    private readonly targets: TargetRepository,
    private readonly sweeps: SweepRepository,
    private readonly logger: Logger,
  ) {}

  /** Their calls, after those were fenced whose lease is over. */
  async calls(passedOver: string[]): Promise<SweptCall[]> {
    if (this.lease.mayJudgeOthers)
      await this.instances.fenceExpired(this.database, this.lease.instanceId);
    return this.sweeps.ofDeadOwners(this.database, passedOver);
  }

  /**
   * The calls without those that a dead owner has ended after all: it may have been fenced while its
   * transaction was on its way, and then the end stands, with the files that it names. A call of which that
   * can't be known now is left out, too. Never rejects.
   */
  async withoutLateEnds(calls: SweptCall[]): Promise<SweptCall[]> {
    const open = new Set<string>();
    for (const ofOne of grouped(calls.filter(mayEndLate), ({ targetId }) => targetId))
      for (const id of await this.openAmong(ofOne)) open.add(id);
    return calls.filter((call) => !mayEndLate(call) || open.has(call.id));
  }

  /**
   * Of calls of one target. Its lock waits for an end that is on its way; one that comes later sees that its
   * owner is gone.
   */
  private async openAmong(calls: [SweptCall, ...SweptCall[]]): Promise<string[]> {
    try {
      return await this.database.transaction(async (tx) => {
        await this.targets.lockById(tx, calls[0].targetId);
        const ids = calls.map(({ id }) => id);
        return this.sweeps.openAmong(tx, ids);
      });
    } catch (error) {
      this.logger.warn('recovery.late_ends_unknown', { calls: calls.length }, error);
      return [];
    }
  }
}

function mayEndLate({ isOwnerGone, isDispatched }: SweptCall): boolean {
  return isOwnerGone && isDispatched;
}
