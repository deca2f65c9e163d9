import type {
  CallOutcome,
  CallWork,
  WorkAnswer,
  WorkListener,
  WorkProgress,
  WorkQuestion,
} from '../background-calls/call-outcome.js';
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
  private progress: WorkProgress | undefined;
  private reference: object | undefined;
  private listener: WorkListener | undefined;

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
    return this.progress;
  }

  /** What another process would need to go on; undefined while none could. */
  get latestReference(): object | undefined {
    return this.reference;
  }

  async cancel(reason: string): Promise<void> {
    this.isStopped = true;
    await this.call?.cancel(reason);
  }

  attach(listener: WorkListener): void {
    this.listener = listener;
    if (this.reference) listener.onReference(this.reference);
    if (this.progress) listener.onProgress(this.progress);
  }

  detach(): void {
    this.isStopped = true;
    this.call?.detach();
  }

  private start(start: UpstreamStart): Promise<CallOutcome> {
    this.call = start({
      onProgress: (progress) => {
        this.progress = progress;
        this.listener?.onProgress(progress);
      },
      onReference: (reference) => {
        this.reference = reference;
        this.listener?.onReference(reference);
      },
      onQuestion: (question) => this.ask(question),
    });
    return this.call.outcome;
  }

  /** A question that nobody listens to has nobody who could answer it. */
  private async ask(question: WorkQuestion): Promise<WorkAnswer> {
    return this.listener ? this.listener.onQuestion(question) : { action: 'cancel' };
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
