import type { CallOutcome, CallWork, WorkProgress } from '../background-calls/call-outcome.js';
import type { UpstreamCall, UpstreamListener } from '../upstreams/upstream-call.js';

/** Starts the upstream request, which tells this listener what happens. */
export type UpstreamStart = (listener: UpstreamListener) => UpstreamCall;

/**
 * One upstream request as the work behind a call, through the handover and beyond: it is the same
 * request throughout and is never sent again.
 */
export class UpstreamWork implements CallWork {
  readonly outcome: Promise<CallOutcome>;
  private call: UpstreamCall | undefined;
  private isStopped = false;
  private latest: WorkProgress | undefined;
  private listener: (progress: WorkProgress) => void = () => undefined;

  private constructor(start: UpstreamStart, mayStart?: () => Promise<boolean>) {
    this.outcome = mayStart ? this.startLater(start, mayStart) : this.start(start);
  }

  /** Asks the upstream at once. */
  static now(start: UpstreamStart): UpstreamWork {
    return new UpstreamWork(start);
  }

  /** Asks the upstream only if `mayStart` says so when it is done. */
  static after(mayStart: () => Promise<boolean>, start: UpstreamStart): UpstreamWork {
    return new UpstreamWork(start, mayStart);
  }

  /** The last progress that arrived. */
  get latestProgress(): WorkProgress | undefined {
    return this.latest;
  }

  async cancel(reason: string): Promise<void> {
    this.isStopped = true;
    await this.call?.cancel(reason);
  }

  onProgress(listener: (progress: WorkProgress) => void): void {
    this.listener = listener;
  }

  private start(start: UpstreamStart): Promise<CallOutcome> {
    this.call = start({
      onProgress: (progress) => {
        this.latest = progress;
        this.listener(progress);
      },
      onReference: () => undefined,
      // Nobody can be asked yet.
      onQuestion: () => Promise.resolve({ action: 'cancel' }),
    });
    return this.call.outcome;
  }

  private async startLater(
    start: UpstreamStart,
    mayStart: () => Promise<boolean>,
  ): Promise<CallOutcome> {
    const isAllowed = await mayStart();
    if (isAllowed && !this.isStopped) return this.start(start);
    const message = 'The call was stopped before the upstream was asked.';
    return { kind: 'error', code: 'interrupted', message, outcomeUnknown: false };
  }
}
