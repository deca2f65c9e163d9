import { Injectable } from '@nestjs/common';
import { Drain } from '../../common/drain.js';
import { Logger } from '../../common/logger.js';
import { DatabaseRetry } from '../../database/database-retry.js';
import { CommitOutcomeUnknownError } from '../../database/database.js';
import type { BackgroundCall } from '../background-call.js';
import type { CallDriver } from '../call-driver.js';
import { InFlightCalls } from '../in-flight/in-flight-calls.js';
import type { OwnCall } from '../in-flight/own-call.js';
import type { TakenCall } from './take-over.repository.js';
import { TakeOverRegistry } from './take-over.registry.js';

const SETTLE_TRIES = 10;

/** Goes on in this process with calls whose owner is gone. */
@Injectable()
export class CallTakeOver {
  private driver: CallDriver | undefined;

  constructor(
    private readonly registry: TakeOverRegistry,
    private readonly inFlight: InFlightCalls,
    private readonly drain: Drain,
    private readonly retry: DatabaseRetry,
    private readonly logger: Logger,
  ) {}

  /** Who goes on with the work. */
  useDriver(driver: CallDriver): void {
    this.driver = driver;
  }

  /**
   * Undefined: another replica was faster, the call was cancelled or has ended, or this process is
   * leaving. Of several replicas that try one succeeds.
   */
  async take(call: Pick<BackgroundCall, 'id' | 'targetId'>): Promise<BackgroundCall | undefined> {
    if (!this.driver || this.drain.isDraining) return undefined;
    this.inFlight.announce(call.id);
    try {
      const taken = await this.settle(call);
      if (!taken || !this.inFlight.owns(taken.call)) return undefined;
      const ours: OwnCall = { ...taken.call, takenBy: taken.call.ownerId ?? undefined };
      const work = this.driver.resume(ours, ours.reference ?? {});
      this.inFlight.adopt(ours, ours.policy, work, taken.remainingMs);
      return ours;
    } finally {
      this.inFlight.retract(call.id);
    }
  }

  /**
   * The call was ended here in place of its owner: its worker is told to stop, as well as can be, by
   * the reference, JSON, that the row had. Never rejects.
   */
  async stopWork(call: BackgroundCall, reference: string): Promise<void> {
    try {
      const work = this.driver?.resume(call, JSON.parse(reference) as object);
      await work?.cancel('the call has ended');
    } catch (error) {
      this.logger.warn('background_call.stop_failed', { callId: call.id }, error);
    }
  }

  /** What became of a COMMIT that broke off is found out by asking again: our own row is answered, too. */
  private async settle(
    call: Pick<BackgroundCall, 'id' | 'targetId'>,
  ): Promise<TakenCall | undefined> {
    let doubts = 0;
    return this.retry.whileAway(() => this.registry.takeOver(call), {
      onAway: (error) => {
        if (error instanceof CommitOutcomeUnknownError || doubts > 0) doubts += 1;
      },
      isWanted: () => doubts > 0 && doubts < SETTLE_TRIES,
    });
  }
}
