import { Injectable } from '@nestjs/common';
import type { BackgroundCall } from './background-call.js';
import { BackgroundCallRegistry } from './background-call.registry.js';
import { CANCELLED } from './call-ending.js';
import { CallReader } from './call-reader.js';
import { isTerminal } from './call-status.js';
import { InFlightCalls } from './in-flight/in-flight-calls.js';

/** The cancel verb, for agents and administrators alike. */
@Injectable()
export class CallCanceller {
  constructor(
    private readonly reader: CallReader,
    private readonly registry: BackgroundCallRegistry,
    private readonly inFlight: InFlightCalls,
  ) {}

  /**
   * Asks for a cancel; the owner, or the next sweep of any replica, carries it out. An ended call is
   * answered unchanged.
   * @throws NotFoundError
   */
  async cancel(id: string, appId: string | undefined): Promise<BackgroundCall> {
    const call = await this.reader.get(id, appId);
    if (isTerminal(call.status)) return call;
    const cancelling = await this.registry.requestCancel(id);
    if (!cancelling) return this.reader.get(id, appId);
    // What waits has no owner who would carry it out.
    if (cancelling.status === 'queued')
      return (
        (await this.registry.end(cancelling, CANCELLED, 'cancel')) ?? this.reader.get(id, appId)
      );
    this.inFlight.cancel(id);
    return cancelling;
  }
}
