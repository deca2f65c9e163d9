import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { BackgroundCall } from '../background-calls/background-call.js';
import { BackgroundCallRegistry } from '../background-calls/background-call.registry.js';
import { DatabaseUnavailableError } from '../common/domain-error.js';
import { Logger } from '../common/logger.js';
import { HandoverService } from './handover.service.js';
import { type UpstreamStart, UpstreamWork } from './upstream-work.js';

const RETRY_MS = 500;

/** The mark that is written before the upstream is asked; without it nobody may ask. */
@Injectable()
export class DispatchMark {
  constructor(
    private readonly registry: BackgroundCallRegistry,
    private readonly handovers: HandoverService,
    private readonly logger: Logger,
  ) {}

  /** Work whose upstream is asked only once the mark is written. */
  workOf(call: BackgroundCall, start: UpstreamStart): UpstreamWork {
    return new UpstreamWork(start, () => this.set(call));
  }

  /** Waits for the database. False: the call was cancelled or taken over, its upstream must not be asked. */
  private async set(call: BackgroundCall): Promise<boolean> {
    for (;;) {
      try {
        return await this.registry.markDispatched(call);
      } catch (error) {
        this.logger.warn('background_call.dispatch_delayed', { callId: call.id }, error);
        if (this.handovers.isClosed || !(error instanceof DatabaseUnavailableError)) return false;
        await sleep(RETRY_MS);
      }
    }
  }
}
