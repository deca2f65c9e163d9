import { within } from '../../common/within.js';
import { WORKSPACE_LIMIT_MS, WorkspaceSilentError } from './workspace-silent.error.js';

/**
 * Removals, one after the other and beside the writers, so that no write waits for them. While one that
 * took too long has not come back, whatever comes fails at once instead of waiting as well.
 */
export class RemovalLane {
  private latest: Promise<unknown> = Promise.resolve();
  /** Removals that nobody waits for any more and that have not settled. */
  private late = 0;

  /**
   * Settles as the removal does. One that waited too long is not begun, one that is going on is told by
   * its signal.
   * @throws WorkspaceSilentError when it took longer than that.
   */
  async run(
    remove: (signal: AbortSignal) => Promise<void>,
    limitMs = WORKSPACE_LIMIT_MS,
  ): Promise<void> {
    if (this.late > 0) throw new WorkspaceSilentError();
    const stop = new AbortController();
    const work = this.latest.then(() => {
      stop.signal.throwIfAborted();
      return remove(stop.signal);
    });
    const settled = work.catch(() => undefined);
    this.latest = settled;
    if (await within(limitMs, work)) return;
    stop.abort();
    this.late += 1;
    void settled.then(() => (this.late -= 1));
    throw new WorkspaceSilentError();
  }
}
