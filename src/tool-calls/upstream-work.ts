import type { CallOutcome } from '../background-calls/call-outcome.js';
import type {
  CallWork,
  WorkAnswer,
  WorkListener,
  WorkProgress,
  WorkQuestion,
} from '../background-calls/call-work.js';
import type { UpstreamCall, UpstreamListener } from '../upstreams/upstream-call.js';

/** Starts the upstream request, which tells this listener what happens. */
export type UpstreamStart = (listener: UpstreamListener) => StartedRequest;

/** An UpstreamCall, or one whose outcome is told otherwise. */
type StartedRequest = Pick<UpstreamCall, 'cancel' | 'detach'> & Pick<CallWork, 'outcome'>;

interface OpenQuestion {
  asked: WorkQuestion;
  resolve(answer: WorkAnswer): void;
}

/**
 * One upstream request as the work behind a call, through the handover and beyond: it is the same
 * request throughout and is never sent again.
 */
export class UpstreamWork implements CallWork {
  readonly outcome: Promise<CallOutcome>;
  private readonly call: StartedRequest;
  private progress: WorkProgress | undefined;
  private reference: object | undefined;
  private listener: WorkListener | undefined;
  private readonly questions = new Set<OpenQuestion>();

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
    for (const question of this.questions) this.put(question, listener);
  }

  detach(): void {
    this.call.detach();
  }

  /** A question that nobody listens to has nobody who could answer it. */
  private ask(asked: WorkQuestion): Promise<WorkAnswer> {
    const { listener } = this;
    if (!listener) return Promise.resolve({ action: 'cancel' });
    return new Promise((resolve) => {
      const question = { asked, resolve };
      this.questions.add(question);
      this.put(question, listener);
    });
  }

  /** Only the listener that is attached when it answers is heard. */
  private put(question: OpenQuestion, listener: WorkListener): void {
    void listener.onQuestion(question.asked).then((answer) => {
      if (this.listener !== listener) return;
      this.questions.delete(question);
      question.resolve(answer);
    });
  }
}
