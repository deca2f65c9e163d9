import { Injectable } from '@nestjs/common';
import { DatabaseMode } from '../database/database-mode.js';
import { Database } from '../database/database.js';
import { InstanceLease } from '../instances/instance-lease.js';
import { InstanceRepository } from '../instances/instance.repository.js';
import { CallSweeper } from './call-sweeper.js';

const SWEEP_MS = 1_000;

/** Sweeps at the start and every second; every replica does. */
@Injectable()
export class RecoveryService {
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly database: Database,
    private readonly lease: InstanceLease,
    private readonly instances: InstanceRepository,
    private readonly databaseMode: DatabaseMode,
    private readonly sweeper: CallSweeper,
  ) {}

  /**
   * Sweeps once, then every second. An embedded database is this process's alone: whoever else is
   * listed in it is dead, so what was running is gone on with or told at once.
   */
  async start(): Promise<void> {
    if (this.databaseMode.isEmbedded)
      await this.instances.fenceAllOthers(this.database, this.lease.instanceId);
    await this.sweeper.sweep();
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
      this.sweeping = this.sweeper.sweep().then(() => this.sweepLater());
    }, SWEEP_MS);
  }
}
