import { Injectable } from '@nestjs/common';
import type { BackgroundCall } from '../background-calls/background-call.js';
import { BackgroundCallRegistry } from '../background-calls/background-call.registry.js';
import type { EndGuard } from '../background-calls/background-call.repository.js';
import { CANCELLED, type CallEnding } from '../background-calls/call-ending.js';
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
    private readonly lease: InstanceLease,
    private readonly logger: Logger,
  ) {}

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
