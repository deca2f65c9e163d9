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
  private readonly call: UpstreamCall;
  private progress: WorkProgress | undefined;
  private reference: object | undefined;
  private listener: WorkListener | undefined;

  /** `mayAsk` is waited for once the connection stands; false: the upstream is not asked. */
  constructor(start: UpstreamStart, mayAsk?: () => Promise<boolean>) {
    this.call = start({
      ...(mayAsk && { mayAsk }),
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
    this.outcome = this.call.outcome;
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
    await this.call.cancel(reason);
  }

  attach(listener: WorkListener): void {
    this.listener = listener;
    if (this.reference) listener.onReference(this.reference);
    if (this.progress) listener.onProgress(this.progress);
  }

  detach(): void {
    this.call.detach();
  }

  /** A question that nobody listens to has nobody who could answer it. */
  private async ask(question: WorkQuestion): Promise<WorkAnswer> {
    return this.listener ? this.listener.onQuestion(question) : { action: 'cancel' };
  }
}
