import { DrainingError } from './domain-error.js';

/** Whether this process is leaving: set once, at the first SIGTERM or SIGINT. */
export class Drain {
  private readonly controller = new AbortController();

  /** Aborted when the process starts to leave: ends long polls at once. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get isDraining(): boolean {
    return this.controller.signal.aborted;
  }

  begin(): void {
    this.controller.abort();
  }

  /** @throws DrainingError when the process takes no new work. */
  assertAcceptsWork(): void {
    if (this.isDraining) throw new DrainingError();
  }
}
