import { Injectable } from '@nestjs/common';
import type { BackgroundCall } from '../background-calls/background-call.js';
import { BackgroundCallRegistry } from '../background-calls/background-call.registry.js';
import type { EndGuard } from '../background-calls/background-call.repository.js';
import { CANCELLED, type CallEnding } from '../background-calls/call-ending.js';
import { ResultFiling } from '../background-calls/results/result-filing.js';
import { CallTakeOver } from '../background-calls/take-over/call-take-over.js';
import { failureLevel } from '../common/failure-level.js';
import { Logger } from '../common/logger.js';
import { InstanceLease } from '../instances/instance-lease.js';
import type { SweptCall } from './sweep.repository.js';

/** Moves calls in place of their owners, each for itself: one that can't be moved stops nothing. */
@Injectable()
export class SweptCallMover {
  constructor(
    private readonly registry: BackgroundCallRegistry,
    private readonly takeOvers: CallTakeOver,
    private readonly filing: ResultFiling,
    private readonly lease: InstanceLease,
    private readonly logger: Logger,
  ) {}

  /**
   * Removes what the owners of these calls have written for an end that they can't record any more. Before
   * the move, so that it is done again should this process die meanwhile; however late it comes it removes
   * nothing else, as whoever has the call by then writes under other names. A call whose upstream was not
   * asked has no files, and its next owner is a first one.
   */
  async removeFiles(calls: SweptCall[]): Promise<void> {
    await this.filing.removeLeft(
      calls.flatMap(({ id, appId, address, ownerId, ...call }) => {
        const isLeft = call.isDispatched && (call.isOwnerGone || call.isCancelRequested);
        return isLeft && ownerId !== null ? [{ id, appId, address, ownerId }] : [];
      }),
    );
  }

  /** Answers whether it was moved. */
  async takeOver(call: SweptCall): Promise<boolean> {
    return this.move(call, 'take-over', () => this.takeOvers.take(call));
  }

  /** It waits in the queue again, or ends as interrupted, or as cancelled where that was asked for. */
  async endAbandoned(call: SweptCall): Promise<boolean> {
    return (
      (await this.move(call, 'dead-owner', () => this.registry.interrupt(call, 'dead-owner'))) ||
      (await this.end(call, CANCELLED, 'cancel'))
    );
  }

  /** In place of an owner who has not done it and may be gone: its work is told by whoever ends its call. */
  async end(call: SweptCall, ending: CallEnding, guard: EndGuard): Promise<boolean> {
    return this.move(call, guard, async () => {
      const ended = await this.registry.end(call, ending, guard);
      if (ended && call.reference !== null && call.ownerId !== this.lease.instanceId)
        void this.takeOvers.stopWork(ended, call.reference);
      return ended;
    });
  }

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
      const level = failureLevel(error);
      this.logger[level]('background_call.sweep_failed', { callId, right }, error);
      return false;
    }
  }
}
