import type { CallOutcome } from '../background-calls/call-outcome.js';
import type { WorkAnswer } from '../background-calls/call-work.js';
import { ForegroundRace, type StopReason } from './foreground-race.js';
import type { ToolCall } from './tool-call.js';
import type { UpstreamWork } from './upstream-work.js';

const ONLY_FOREGROUND = 'The call may not move to the background, so nobody can be asked.';

/** A call whose caller still waits for the answer. */
export class ForegroundCall {
  readonly race: ForegroundRace;
  /** The caller is gone but its call goes on: the end has to be told by a message. */
  isAbandoned = false;
  private begun: UpstreamWork | undefined;
  private beganAtMs = 0;
  private readonly questions = new Set<(answer: WorkAnswer) => void>();

  constructor(readonly toolCall: ToolCall) {
    this.race = new ForegroundRace(toolCall.policy);
  }

  get work(): UpstreamWork {
    if (!this.begun) throw new Error('the upstream was not asked yet');
    return this.begun;
  }

  /** The upstream was asked; its answer and its signs of life go to the race. */
  begin(work: UpstreamWork, nowMs: number): void {
    this.begun = work;
    this.beganAtMs = nowMs;
    work.attach({
      onProgress: () => this.race.renewSilence(),
      onReference: () => undefined,
      onQuestion: () => this.needsInput(),
    });
    void work.outcome.then((outcome: CallOutcome) => this.race.push({ kind: 'answer', outcome }));
  }

  /** The call does not move: whatever its upstream has asked, nobody will be asked. */
  giveUpQuestions(reason: string): void {
    for (const give of this.questions) give({ action: 'cancel', reason });
    this.questions.clear();
  }

  /** Milliseconds since the upstream was asked. */
  runningForMs(nowMs: number): number {
    return nowMs - this.beganAtMs;
  }

  /** The caller closed the connection: with a turn the call may go on, without one nobody wants it. */
  callerGone(): void {
    const { request, policy } = this.toolCall;
    const goesOn =
      request.turnId !== undefined &&
      policy.mode !== 'never' &&
      policy.onClientTimeout === 'background';
    if (!goesOn) return this.stop('caller_gone');
    // At once, not when the race comes to it: an answer that waits there reaches nobody any more.
    this.isAbandoned = true;
    this.race.push({ kind: 'handover_due', reason: 'client_timeout' });
  }

  stop(reason: StopReason): void {
    this.race.push({ kind: 'stopped', reason });
  }

  /** Nobody can be asked while the caller waits: the call moves, and whoever takes it is told the question. */
  private needsInput(): Promise<WorkAnswer> {
    if (this.toolCall.policy.mode === 'never')
      return Promise.resolve({ action: 'cancel', reason: ONLY_FOREGROUND });
    this.race.push({ kind: 'handover_due', reason: 'input_required' });
    return new Promise((resolve) => this.questions.add(resolve));
  }
}
