import { Injectable } from '@nestjs/common';
import { CANCELLED, timedOut } from '../background-calls/call-ending.js';
import { Logger } from '../common/logger.js';
import { Database } from '../database/database.js';
import { InstanceLease } from '../instances/instance-lease.js';
import { InstanceRepository } from '../instances/instance.repository.js';
import { SweepRepository, type SweptCall } from './sweep.repository.js';
import { SweptCallMover } from './swept-call.mover.js';

/** By one sweep: what is left over comes with the next one, here or at another replica. */
const TAKE_OVERS = 50;

/**
 * Goes on with calls of dead owners where that can be done, and ends what nobody else will: the others,
 * calls past their deadline, and cancels that their owner did not carry out. The guards of the moves
 * decide who wins, and nobody's live call is touched.
 */
@Injectable()
export class CallSweeper {
  constructor(
    private readonly database: Database,
    private readonly lease: InstanceLease,
    private readonly instances: InstanceRepository,
    private readonly sweeps: SweepRepository,
    private readonly mover: SweptCallMover,
    private readonly logger: Logger,
  ) {}

  /** Each part for itself: one that fails is tried again with the next sweep. */
  async sweep(): Promise<void> {
    await this.attempt('cancels', () => this.endOverdueCancels());
    await this.attempt('deadlines', () => this.endPastDeadline());
    await this.attempt('owners', () => this.callsOfDeadOwners());
  }

  private async endOverdueCancels(): Promise<void> {
    const calls = await this.sweeps.overdueCancels(this.database);
    await this.mover.removeFiles(calls);
    for (const call of calls) await this.mover.end(call, CANCELLED, 'cancel');
  }

  private async endPastDeadline(): Promise<void> {
    const calls = await this.sweeps.pastDeadline(this.database);
    await this.mover.removeFiles(calls);
    for (const call of calls)
      await this.mover.end(call, timedOut(call.maxHours, call.spentMs), 'deadline');
  }

  private async callsOfDeadOwners(): Promise<void> {
    if (this.lease.mayJudgeOthers)
      await this.instances.fenceExpired(this.database, this.lease.instanceId);
    const calls = await this.sweeps.ofDeadOwners(this.database);
    await this.mover.removeFiles(calls);
    const goesOn = (call: SweptCall): boolean => call.reference !== null && !call.isCancelRequested;
    for (const call of calls.filter((each) => !goesOn(each))) await this.mover.endAbandoned(call);
    for (const call of calls.filter(goesOn).slice(0, TAKE_OVERS)) await this.mover.takeOver(call);
  }

  private async attempt(part: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn('recovery.sweep_failed', { part }, error);
    }
  }
}
