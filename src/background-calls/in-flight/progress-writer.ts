import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { Logger } from '../../common/logger.js';
import { toStorableText } from '../../common/storable-text.js';
import { Database } from '../../database/database.js';
import { InstanceLease } from '../../instances/instance-lease.js';
import type { BackgroundCall, CallProgress } from '../background-call.js';
import type { WorkProgress } from '../call-work.js';
import { WorkSignsRepository } from './work-signs.repository.js';

const INTERVAL_MS = 500;

/** Writes the latest progress of all calls of this process, at most twice a second, in one statement. */
@Injectable()
export class ProgressWriter implements OnApplicationShutdown {
  private pending = new Map<string, CallProgress>();
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly signs: WorkSignsRepository,
    private readonly lease: InstanceLease,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Adds the moment of arrival; what can't be stored in the message is replaced. */
  stamp({ progress, total, message }: WorkProgress): CallProgress {
    return {
      progress,
      total: total ?? null,
      message: message === undefined ? null : toStorableText(message),
      at: this.clock.now().toISOString(),
    };
  }

  /** What the handover has written already is not written again. */
  put(call: BackgroundCall, progress: WorkProgress): void {
    if (isIn(call, progress)) return;
    this.pending.set(call.id, this.stamp(progress));
    this.timer ??= setTimeout(() => this.flush(), INTERVAL_MS);
  }

  /** Resolves when the call's last progress is written, so that its end does not hide it. */
  async settle(callId: string): Promise<void> {
    if (this.pending.has(callId)) this.flush();
    await this.writing;
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const batch = this.pending;
    this.pending = new Map();
    this.writing = this.writing.then(() => this.write(batch));
  }

  /** Progress is worth no retry: the next one replaces it. */
  private async write(batch: Map<string, CallProgress>): Promise<void> {
    try {
      await this.signs.writeProgress(this.database, batch, this.lease.instanceId);
    } catch (error) {
      this.logger.warn('background_call.progress_not_written', { calls: batch.size }, error);
    }
  }
}

function isIn({ progress: stored }: BackgroundCall, told: WorkProgress): boolean {
  return (
    stored?.progress === told.progress &&
    stored.total === (told.total ?? null) &&
    stored.message === (told.message ?? null)
  );
}
