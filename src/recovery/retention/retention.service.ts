import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { failureLevel } from '../../common/failure-level.js';
import { Logger } from '../../common/logger.js';
import { RepeatedWork } from '../../common/repeated-work.js';
import { Database } from '../../database/database.js';
import { InstanceLease } from '../../instances/instance-lease.js';
import { InstanceRepository } from '../../instances/instance.repository.js';
import { Settings } from '../../settings/settings.js';
import { RetentionSweeper } from './retention-sweeper.js';

const DAY_MS = 86_400_000;
const LOOK_MS = 1_000;
/** Between two sweeps: a tenth of the retention, within these bounds. */
const PAUSE_MS = { least: 1_000, most: 600_000 };

/**
 * Says when what is older than `retention.days` is removed. The oldest of the living replicas does it;
 * while there is more than one sweep removes it goes on every second.
 */
@Injectable()
export class RetentionService {
  private readonly looks = new RepeatedWork(LOOK_MS, () => this.look());
  private readonly stopping = new AbortController();
  private nextSweepAtMs = 0;

  constructor(
    private readonly sweeper: RetentionSweeper,
    private readonly settings: Settings,
    private readonly database: Database,
    private readonly lease: InstanceLease,
    private readonly instances: InstanceRepository,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.looks.start();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.looks.stop();
  }

  private async look(): Promise<void> {
    const { days } = this.settings.current.retention;
    const pauseMs = Math.min(Math.max((days * DAY_MS) / 10, PAUSE_MS.least), PAUSE_MS.most);
    const now = this.clock.monotonicMs();
    // A shorter retention counts at once.
    this.nextSweepAtMs = Math.min(this.nextSweepAtMs, now + pauseMs);
    if (now < this.nextSweepAtMs) return;
    this.nextSweepAtMs = now + pauseMs;
    try {
      if (!(await this.instances.isOldest(this.database, this.lease.instanceId))) return;
      if (await this.sweeper.sweep(days, this.stopping.signal)) this.nextSweepAtMs = now;
    } catch (error) {
      const level = failureLevel(error);
      this.logger[level]('retention.sweep_failed', {}, error);
    }
  }
}
