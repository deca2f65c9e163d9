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
    const delayed = (error: unknown): void =>
      this.logger.warn('background_call.dispatch_delayed', { callId: call.id }, error);
    try {
      const mark = (): Promise<boolean> => this.registry.markDispatched(call);
      return await this.retry.whileAway(mark, { onAway: delayed });
    } catch (error) {
      delayed(error);
      return false;
    }
  }
}
