import type { CallOutcome } from '../background-calls/call-outcome.js';
import { ForegroundRace, type StopReason } from './foreground-race.js';
import type { ToolCall } from './tool-call.js';
import type { UpstreamWork } from './upstream-work.js';

/** A call whose caller still waits for the answer. */
export class ForegroundCall {
  readonly race: ForegroundRace;
  /** The caller is gone but its call goes on: the end has to be told by a message. */
  isAbandoned = false;
  private begun: UpstreamWork | undefined;
  private beganAtMs = 0;

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
      // Nobody can be asked while the caller waits.
      onQuestion: () => Promise.resolve({ action: 'cancel' }),
    });
    void work.outcome.then((outcome: CallOutcome) => this.race.push({ kind: 'answer', outcome }));
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
}
