import type { CallOutcome } from '../background-calls/call-outcome.js';

export type StopReason = 'caller_gone' | 'turn_interrupted' | 'draining';
export type HandoverReason = 'auto' | 'client_timeout' | 'input_required';

export type RaceEvent =
  | { kind: 'answer'; outcome: CallOutcome }
  | { kind: 'handover_due'; reason: HandoverReason }
  | { kind: 'stopped'; reason: StopReason }
  | { kind: 'timeout'; limitSec: number };

interface ForegroundLimits {
  /** Seconds without an answer or a sign of life. */
  foregroundTimeoutSec: number;
  /** Seconds in all. */
  foregroundMaxSec: number;
}

/**
 * What may happen to a call in the foreground, in the order in which it happened. The order decides:
 * a handover that is taken from the race before the answer wins over the answer.
 */
export class ForegroundRace {
  private readonly events: RaceEvent[] = [];
  private wake: (() => void) | undefined;
  private handover: NodeJS.Timeout | undefined;
  private silence: NodeJS.Timeout | undefined;
  private readonly total: NodeJS.Timeout;
  private isClosed = false;

  constructor(private readonly limits: ForegroundLimits) {
    this.total = this.timeoutAfter(limits.foregroundMaxSec);
    this.silence = this.timeoutAfter(limits.foregroundTimeoutSec);
  }

  /** Why the call was told to stop, while nobody has taken that from the race yet. */
  get pendingStop(): StopReason | undefined {
    return this.events.find((event) => event.kind === 'stopped')?.reason;
  }

  push(event: RaceEvent): void {
    this.events.push(event);
    this.wake?.();
  }

  async next(): Promise<RaceEvent> {
    for (;;) {
      const event = this.events.shift();
      if (event) return event;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
  }

  /** One handover is due after `delayMs`, replacing an earlier one that has not come yet. */
  armHandover(delayMs: number, reason: HandoverReason): void {
    clearTimeout(this.handover);
    if (this.isClosed) return;
    this.handover = setTimeout(() => this.push({ kind: 'handover_due', reason }), delayMs);
  }

  /** Progress arrived: the silence starts anew, the total does not. */
  renewSilence(): void {
    clearTimeout(this.silence);
    if (this.isClosed) return;
    this.silence = this.timeoutAfter(this.limits.foregroundTimeoutSec);
  }

  /** Ends every timer; whatever happens later is not looked at any more. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.handover);
    clearTimeout(this.silence);
    clearTimeout(this.total);
  }

  private timeoutAfter(limitSec: number): NodeJS.Timeout {
    return setTimeout(() => this.push({ kind: 'timeout', limitSec }), limitSec * 1_000);
  }
}
