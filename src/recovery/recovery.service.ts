import { Injectable } from '@nestjs/common';
import type { BackgroundCall } from '../background-calls/background-call.js';
import { BackgroundCallRegistry } from '../background-calls/background-call.registry.js';
import type { EndGuard } from '../background-calls/background-call.repository.js';
import { CANCELLED, type CallEnding, timedOut } from '../background-calls/call-ending.js';
import { Logger } from '../common/logger.js';
import { DatabaseMode } from '../database/database-mode.js';
import { Database } from '../database/database.js';
import { InstanceLease } from '../instances/instance-lease.js';
import { InstanceRepository } from '../instances/instance.repository.js';
import { SweepRepository, type SweptCall } from './sweep.repository.js';

const SWEEP_MS = 1_000;

/**
 * Ends what nobody else will: calls of dead owners, calls past their deadline, and cancels that their
 * owner did not carry out. Every replica sweeps; the guards of the registry decide who wins, and
 * nobody's live call is touched.
 */
@Injectable()
export class RecoveryService {
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly database: Database,
    private readonly lease: InstanceLease,
    private readonly instances: InstanceRepository,
    private readonly sweeps: SweepRepository,
    private readonly registry: BackgroundCallRegistry,
    private readonly databaseMode: DatabaseMode,
    private readonly logger: Logger,
  ) {}

  /**
   * Sweeps once, then every second. An embedded database is this process's alone: whoever else is
   * listed in it is dead, so what was running is told at once.
   */
  async start(): Promise<void> {
    if (this.databaseMode.isEmbedded)
      await this.instances.fenceAllOthers(this.database, this.lease.instanceId);
    await this.sweep();
    this.sweepLater();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.sweeping;
  }

  private sweepLater(): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.sweeping = this.sweep().then(() => this.sweepLater());
    }, SWEEP_MS);
  }

  private async sweep(): Promise<void> {
    await this.attempt('cancels', () => this.endOverdueCancels());
    await this.attempt('deadlines', () => this.endPastDeadline());
    await this.attempt('owners', () => this.endOfDeadOwners());
  }

  private async endOverdueCancels(): Promise<void> {
    for (const call of await this.sweeps.overdueCancels(this.database))
      await this.end(call, CANCELLED, 'cancel');
  }

  private async endPastDeadline(): Promise<void> {
    for (const call of await this.sweeps.pastDeadline(this.database))
      await this.end(call, timedOut(call.maxHours, call.spentMs), 'deadline');
  }

  private async endOfDeadOwners(): Promise<void> {
    if (this.lease.mayJudgeOthers)
      await this.instances.fenceExpired(this.database, this.lease.instanceId);
    for (const call of await this.sweeps.ofDeadOwners(this.database))
      if (!(await this.move(call, 'dead-owner', () => this.registry.interrupt(call, 'dead-owner'))))
        await this.end(call, CANCELLED, 'cancel');
  }

  private end(call: SweptCall, ending: CallEnding, guard: EndGuard): Promise<boolean> {
    return this.move(call, guard, () => this.registry.end(call, ending, guard));
  }

  /** Each row for itself: one that can't be moved stops nothing. */
  private async move(
    { id: callId }: SweptCall,
    guard: EndGuard,
    work: () => Promise<BackgroundCall | undefined>,
  ): Promise<boolean> {
    try {
      const moved = await work();
      if (moved) this.logger.info('background_call.swept', { callId, guard, status: moved.status });
      return moved !== undefined;
    } catch (error) {
      this.logger.error('background_call.sweep_failed', { callId, guard }, error);
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
