import { Injectable } from '@nestjs/common';
import type { BackgroundCall } from '../background-calls/background-call.js';
import { BackgroundCallRegistry } from '../background-calls/background-call.registry.js';
import type { EndGuard } from '../background-calls/background-call.repository.js';
import { CANCELLED, type CallEnding, timedOut } from '../background-calls/call-ending.js';
import { CallTakeOver } from '../background-calls/take-over/call-take-over.js';
import { Logger } from '../common/logger.js';
import { Database } from '../database/database.js';
import { InstanceLease } from '../instances/instance-lease.js';
import { InstanceRepository } from '../instances/instance.repository.js';
import { SweepRepository, type SweptCall } from './sweep.repository.js';

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
    private readonly registry: BackgroundCallRegistry,
    private readonly takeOver: CallTakeOver,
    private readonly logger: Logger,
  ) {}

  /** Each part for itself: one that fails is tried again with the next sweep. */
  async sweep(): Promise<void> {
    await this.attempt('cancels', () => this.endOverdueCancels());
    await this.attempt('deadlines', () => this.endPastDeadline());
    await this.attempt('owners', () => this.callsOfDeadOwners());
  }

  private async endOverdueCancels(): Promise<void> {
    for (const call of await this.sweeps.overdueCancels(this.database))
      await this.end(call, CANCELLED, 'cancel');
  }

  private async endPastDeadline(): Promise<void> {
    for (const call of await this.sweeps.pastDeadline(this.database))
      await this.end(call, timedOut(call.maxHours, call.spentMs), 'deadline');
  }

  private async callsOfDeadOwners(): Promise<void> {
    if (this.lease.mayJudgeOthers)
      await this.instances.fenceExpired(this.database, this.lease.instanceId);
    const calls = await this.sweeps.ofDeadOwners(this.database);
    const goesOn = (call: SweptCall): boolean => call.reference !== null && !call.isCancelRequested;
    for (const call of calls.filter((each) => !goesOn(each))) await this.endAbandoned(call);
    for (const call of calls.filter(goesOn).slice(0, TAKE_OVERS))
      await this.move(call, 'take-over', () => this.takeOver.take(call));
  }

  private async endAbandoned(call: SweptCall): Promise<void> {
    if (!(await this.move(call, 'dead-owner', () => this.registry.interrupt(call, 'dead-owner'))))
      await this.end(call, CANCELLED, 'cancel');
  }

  /** In place of an owner who has not done it and may be gone: its work is told by whoever ends its call. */
  private async end(call: SweptCall, ending: CallEnding, guard: EndGuard): Promise<void> {
    const reference = call.reference && (JSON.parse(call.reference) as object);
    await this.move(call, guard, async () => {
      const ended = await this.registry.end(call, ending, guard);
      if (ended && reference && call.ownerId !== this.lease.instanceId)
        void this.takeOver.stopWork(ended, reference);
      return ended;
    });
  }

  /** Each row for itself: one that can't be moved stops nothing. */
  private async move(
    { id: callId }: SweptCall,
    right: EndGuard | 'take-over',
    work: () => Promise<BackgroundCall | undefined>,
  ): Promise<boolean> {
    try {
      const moved = await work();
      if (moved) this.logger.info('background_call.swept', { callId, right, status: moved.status });
      return moved !== undefined;
    } catch (error) {
      this.logger.error('background_call.sweep_failed', { callId, right }, error);
      return false;
    }
  }

  private async attempt(part: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn('recovery.sweep_failed', { part }, error);
    }
  }
}
