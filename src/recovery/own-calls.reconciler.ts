import { Injectable, type OnModuleInit } from '@nestjs/common';
import { BackgroundCallRegistry } from '../background-calls/background-call.registry.js';
import { InFlightCalls } from '../background-calls/in-flight/in-flight-calls.js';
import { Logger } from '../common/logger.js';
import { ChannelListener } from '../database/channel-listener.js';
import { Database } from '../database/database.js';
import { InstanceLease } from '../instances/instance-lease.js';
import { SweepRepository, type SweptCall } from './sweep.repository.js';

/**
 * Holds this process's rows against its memory at each heartbeat, and whenever something may have been
 * told to nobody: rows without a call wait again or end as interrupted, cancels that were missed are
 * carried out, calls that somebody else has ended are dropped.
 */
@Injectable()
export class OwnCallsReconciler implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly lease: InstanceLease,
    private readonly sweeps: SweepRepository,
    private readonly registry: BackgroundCallRegistry,
    private readonly inFlight: InFlightCalls,
    private readonly listener: ChannelListener,
    private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.lease.onBeat(() => void this.reconcile());
    this.listener.onReconnect(() => void this.reconcile());
  }

  private async reconcile(): Promise<void> {
    try {
      await this.compare();
    } catch (error) {
      this.logger.warn('recovery.reconcile_failed', {}, error);
    }
  }

  private async compare(): Promise<void> {
    // Before the rows are read: a call that is adopted meanwhile must not look ended.
    const known = this.inFlight.ids();
    const rows = await this.sweeps.ofOwner(this.database, this.lease.instanceId);
    const running = new Set(rows.map(({ id }) => id));
    for (const id of known) if (!running.has(id)) this.inFlight.dropEnded(id);
    for (const row of rows) {
      if (!this.inFlight.has(row.id)) await this.endStray(row);
      else if (row.isCancelRequested) this.inFlight.cancel(row.id);
    }
  }

  private async endStray(row: SweptCall): Promise<void> {
    const moved = await this.registry.interrupt(row, 'owner');
    if (moved) this.logger.warn('background_call.stray_ended', { callId: row.id });
  }
}
