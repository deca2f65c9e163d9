import { Injectable } from '@nestjs/common';
import { Logger } from '../../common/logger.js';
import { DatabaseRetry } from '../../database/database-retry.js';
import type { BackgroundCall } from '../background-call.js';
import { BackgroundCallRegistry } from '../background-call.registry.js';
import type { Verdict } from './in-flight-call.js';

/** Writes how the calls of this process end. */
@Injectable()
export class EndWriter {
  constructor(
    private readonly registry: BackgroundCallRegistry,
    private readonly retry: DatabaseRetry,
    private readonly logger: Logger,
  ) {}

  /**
   * Tries for as long as the database is away and `isOurs` holds. False: the row does not allow this end.
   * Never rejects: a row that can't be written stays as it is, and the next reconciliation, or whoever
   * sweeps next, ends it as interrupted.
   */
  async write(call: BackgroundCall, verdict: Verdict, isOurs: () => boolean): Promise<boolean> {
    if (!isOurs()) return true;
    const { id: callId } = call;
    const written = await this.retry.orGiveUp(() => this.tryWrite(call, verdict), {
      onAway: (error) => this.logger.warn('background_call.end_delayed', { callId }, error),
      onRefused: (error) => this.logger.error('background_call.end_refused', { callId }, error),
      isWanted: isOurs,
    });
    return written ?? true;
  }

  private async tryWrite(call: BackgroundCall, verdict: Verdict): Promise<boolean> {
    const moved =
      verdict === 'interrupt'
        ? await this.registry.interrupt(call, 'owner')
        : await this.registry.end(call, verdict.ending, verdict.guard);
    return moved !== undefined;
  }
}
