import type { Logger } from '../../common/logger.js';
import type { HandoverPolicy } from '../background-call.js';
import type { EndGuard } from '../background-call.repository.js';
import { CANCELLED, type CallEnding, endingOf, failure, timedOut } from '../call-ending.js';
import type { CallOutcome } from '../call-outcome.js';
import type { CallWork, WorkAnswer } from '../call-work.js';
import type { OwnCall } from './own-call.js';

/** How a call is to be ended, and by which right; or that this process does not go on with it. */
export type Verdict = { ending: CallEnding; guard: EndGuard } | 'interrupt';

/** After that a cancelled call is ended even if its upstream could not be told. */
const CANCEL_GRACE_MS = 5_000;

/**
 * One background call whose work runs in this process: decides, once, how it ends. The first of the
 * worker's answer, the deadline, silence, a cancel and a shutdown wins; after a requested cancel the
 * worker's answer counts no more.
 */
export class InFlightCall {
  /** Undefined: the call was taken away, there is nothing to write. */
  readonly verdict: Promise<Verdict | undefined>;
  private decide!: (verdict: Verdict | undefined) => void;
  private readonly deadline: NodeJS.Timeout;
  private silence: NodeJS.Timeout | undefined;
  private grace: NodeJS.Timeout | undefined;
  private isCancelRequested = false;
  private isDecided = false;
  private isLeft = false;
  private questions = 0;
  private readonly asking = new AbortController();

  constructor(
    readonly call: OwnCall,
    private readonly policy: HandoverPolicy,
    private readonly work: CallWork,
    private readonly logger: Logger,
    remainingMs: number,
  ) {
    this.verdict = new Promise((resolve) => {
      this.decide = (verdict): void => {
        this.isDecided = true;
        this.clearTimers();
        this.asking.abort();
        resolve(verdict);
      };
    });
    this.deadline = setTimeout(() => this.timeOut(), remainingMs);
    this.renewSilence();
    void work.outcome.then((outcome) => this.answered(outcome));
  }

  /** Whether it is already decided how the call ends, and being written. */
  get hasVerdict(): boolean {
    return this.isDecided;
  }

  /** A sign of life of the worker. */
  renewSilence(): void {
    const { idleTimeoutSec } = this.policy;
    if (idleTimeoutSec === null || this.isDecided || this.questions > 0) return;
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.fallSilent(idleTimeoutSec), idleTimeoutSec * 1_000);
  }

  /**
   * Has a question of the worker answered; `ask` is told when it is too late for that. Meanwhile silence is
   * no fault of the worker. Work that is left to another process is not answered by this one.
   */
  async answer(ask: (over: AbortSignal) => Promise<WorkAnswer | undefined>): Promise<WorkAnswer> {
    this.questions += 1;
    clearTimeout(this.silence);
    const answer = await ask(this.asking.signal);
    this.questions -= 1;
    this.renewSilence();
    if (answer) return answer;
    return this.isLeft ? new Promise(() => undefined) : { action: 'cancel' };
  }

  /** Phase two of a cancel: the worker is told, then the call ends as cancelled. Repeatable. */
  cancel(): void {
    if (this.isCancelRequested || this.isDecided) return;
    this.isCancelRequested = true;
    this.asking.abort();
    const end = (): void => this.decide({ ending: CANCELLED, guard: 'cancel' });
    this.grace = setTimeout(end, CANCEL_GRACE_MS);
    void this.stopWork('cancelled by request').then(end);
  }

  /** Whether another process may go on with it: nobody has asked for its end, and it has not ended. */
  get mayBeLeft(): boolean {
    return !this.isCancelRequested && !this.isDecided;
  }

  /** This process leaves, and nobody can go on with the work. */
  interrupt(): void {
    this.isLeft = true;
    this.decide('interrupt');
    void this.stopWork('the service is shutting down');
  }

  /** Somebody else has ended the call: stop the work and write nothing. */
  dropEnded(): void {
    this.decide(undefined);
    void this.stopWork('the call has ended');
  }

  /** The call belongs to somebody else now, who can't go on with it: stop the work and write nothing. */
  drop(): void {
    this.isLeft = true;
    this.decide(undefined);
    void this.stopWork('the call was taken over');
  }

  /** Somebody else goes on with the work, which is told nothing; and nothing is written. */
  leave(): void {
    this.isLeft = true;
    this.decide(undefined);
    this.work.detach();
  }

  private answered(outcome: CallOutcome): void {
    if (this.isCancelRequested) return;
    this.decide({ ending: this.endingFor(outcome), guard: 'owner' });
  }

  /** Whatever the worker answered, its call ends. */
  private endingFor(outcome: CallOutcome): CallEnding {
    try {
      return endingOf(outcome, this.policy);
    } catch (error) {
      this.logger.error('background_call.result_unusable', { callId: this.call.id }, error);
      return failure({ code: 'upstream_error', message: 'The result cannot be recorded.' }, true);
    }
  }

  private timeOut(): void {
    const { backgroundedAt, startedAt } = this.call;
    // A call that waited in the queue started after its handover.
    const beforeHandoverMs = startedAt ? Math.max(0, +backgroundedAt - +startedAt) : 0;
    const spentMs = beforeHandoverMs + this.policy.maxHours * 3_600_000;
    this.decide({ ending: timedOut(this.policy.maxHours, spentMs), guard: 'owner' });
    void this.stopWork('its time limit has passed');
  }

  private fallSilent(idleTimeoutSec: number): void {
    const message = `No progress for ${idleTimeoutSec} s.`;
    this.decide({ ending: failure({ code: 'idle_timeout', message }), guard: 'owner' });
    void this.stopWork('no progress');
  }

  private async stopWork(reason: string): Promise<void> {
    try {
      await this.work.cancel(reason);
    } catch (error) {
      this.logger.warn('background_call.stop_failed', { callId: this.call.id }, error);
    }
  }

  private clearTimers(): void {
    clearTimeout(this.deadline);
    clearTimeout(this.silence);
    clearTimeout(this.grace);
  }
}
