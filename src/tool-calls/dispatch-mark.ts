import { Injectable } from '@nestjs/common';
import type { BackgroundCall } from '../background-calls/background-call.js';
import { BackgroundCallRegistry } from '../background-calls/background-call.registry.js';
import { Logger } from '../common/logger.js';
import { DatabaseRetry } from '../database/database-retry.js';
import { type UpstreamStart, UpstreamWork } from './upstream-work.js';

/** The mark that is written before the upstream is asked; without it nobody may ask. */
@Injectable()
export class DispatchMark {
  constructor(
    private readonly registry: BackgroundCallRegistry,
    private readonly retry: DatabaseRetry,
    private readonly logger: Logger,
  ) {}

  /** Work whose upstream is asked only once the mark is written. */
  workOf(call: BackgroundCall, start: UpstreamStart): UpstreamWork {
    return new UpstreamWork(start, () => this.set(call));
  }

  /** Waits for the database. False: the call was cancelled or taken over, its upstream must not be asked. */
  private async set(call: BackgroundCall): Promise<boolean> {
    const { id: callId } = call;
    const isSet = await this.retry.orGiveUp(() => this.registry.markDispatched(call), {
      onAway: (error) => this.logger.warn('background_call.dispatch_delayed', { callId }, error),
      onRefused: (error) =>
        this.logger.error('background_call.dispatch_refused', { callId }, error),
    });
    return isSet ?? false;
  }
}
