import type { CallOutcome } from '../../src/background-calls/call-outcome.js';
import type { CallWork, WorkListener } from '../../src/background-calls/call-work.js';

/** Work that does what the test says, and keeps what it was told. */
export class PlayedWork implements CallWork {
  answer: (outcome: CallOutcome) => void = () => undefined;
  readonly outcome = new Promise<CallOutcome>((resolve) => (this.answer = resolve));
  readonly stops: string[] = [];
  isDetached = false;
  private listener: WorkListener | undefined;

  /** A result with this text. */
  succeed(text: string): void {
    this.answer({ kind: 'result', result: { content: [{ type: 'text', text }] } });
  }

  tell(reference: object): void {
    this.listener?.onReference(reference);
  }

  attach(listener: WorkListener): void {
    this.listener = listener;
  }

  detach(): void {
    this.isDetached = true;
  }

  cancel(reason: string): Promise<void> {
    this.stops.push(reason);
    return Promise.resolve();
  }
}
