import { Injectable } from '@nestjs/common';
import { Logger } from '../../common/logger.js';
import { Database } from '../../database/database.js';
import { ResultFiles } from '../../delivery/files/result-files.js';
import { WorkspaceSilentError } from '../../delivery/files/workspace-silent.error.js';
import { TargetRepository } from '../../targets/target.repository.js';
import { type OldCalls, RetentionRepository } from './retention.repository.js';

const MOST_STUCK = 1_000;

/** Removes what is older than the retention, in bounded steps. */
@Injectable()
export class RetentionSweeper {
  /** Up to which row the targets were looked through. */
  private lookedUpTo = 0;
  /** Targets whose calls could not be removed: passed over until all others are done. */
  private readonly stuck = new Set<number>();

  constructor(
    private readonly database: Database,
    private readonly targets: TargetRepository,
    private readonly old: RetentionRepository,
    private readonly files: ResultFiles,
    private readonly logger: Logger,
  ) {}

  /**
   * Removes some of what is older than `days`: told calls with their results, messages and files, then
   * events, then targets that nothing is left of. True: there may be more. `stop` ends it early.
   */
  async sweep(days: number, stop?: AbortSignal): Promise<boolean> {
    const old = await this.old.listCalls(this.database, days, [...this.stuck]);
    if (old.length === 0 || this.stuck.size > MOST_STUCK) this.stuck.clear();
    const removed = await this.removeAll(old, days, stop);
    if (stop?.aborted) return false;
    const messages = await this.old.removeMessages(this.database, days);
    const events = await this.old.removeEvents(this.database, days);
    const targets = await this.removeTargets(days);
    const counts = { calls: removed, messages, events, targets };
    if (Object.values(counts).some((count) => count > 0))
      this.logger.info('retention.removed', counts);
    return old.length > 0 || messages > 0 || events > 0;
  }

  private async removeAll(old: OldCalls[], days: number, stop?: AbortSignal): Promise<number> {
    let removed = 0;
    try {
      for (const calls of old) if (!stop?.aborted) removed += await this.removeCalls(calls, days);
    } catch (error) {
      if (!(error instanceof WorkspaceSilentError)) throw error;
      this.logger.warn('retention.workspaces_silent', {}, error);
    }
    return removed;
  }

  /** Each target for itself. The files go first: a call that is gone could not say what is left of it. */
  private async removeCalls({ target, callIds }: OldCalls, days: number): Promise<number> {
    try {
      await this.files.remove(target, callIds);
      return await this.database.transaction(async (tx) => {
        await this.targets.lockById(tx, target.id);
        return this.old.removeCalls(tx, callIds, days);
      });
    } catch (error) {
      this.stuck.add(target.id);
      if (error instanceof WorkspaceSilentError) throw error;
      this.logger.warn(
        'retention.calls_kept',
        { targetId: target.id, calls: callIds.length },
        error,
      );
      return 0;
    }
  }

  private async removeTargets(days: number): Promise<number> {
    const { removed, lookedUpTo } = await this.old.removeTargets(
      this.database,
      this.lookedUpTo,
      days,
    );
    this.lookedUpTo = lookedUpTo;
    return removed;
  }
}
