import { Injectable } from '@nestjs/common';
import { RepeatedWork } from '../common/repeated-work.js';
import { DatabaseMode } from '../database/database-mode.js';
import { Database } from '../database/database.js';
import { InstanceLease } from '../instances/instance-lease.js';
import { InstanceRepository } from '../instances/instance.repository.js';
import { CallSweeper } from './call-sweeper.js';
import { RetentionService } from './retention/retention.service.js';

const SWEEP_MS = 1_000;

/** Sweeps at the start and every second; every replica does. */
@Injectable()
export class RecoveryService {
  private readonly sweeps = new RepeatedWork(SWEEP_MS, () => this.sweeper.sweep());

  constructor(
    private readonly database: Database,
    private readonly lease: InstanceLease,
    private readonly instances: InstanceRepository,
    private readonly databaseMode: DatabaseMode,
    private readonly sweeper: CallSweeper,
    private readonly retention: RetentionService,
  ) {}

  /**
   * Sweeps once, then every second. An embedded database is this process's alone: whoever else is
   * listed in it is dead, so what was running is gone on with or told at once.
   */
  async start(): Promise<void> {
    if (this.databaseMode.isEmbedded)
      await this.instances.fenceAllOthers(this.database, this.lease.instanceId);
    await this.sweeper.sweep();
    this.sweeps.start();
    this.retention.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.sweeps.stop(), this.retention.stop()]);
  }
}
