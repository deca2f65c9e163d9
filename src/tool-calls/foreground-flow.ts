import { Injectable } from '@nestjs/common';
import type { CallOutcome } from '../background-calls/call-outcome.js';
import { HandoverAnswer } from '../background-calls/handover/handover-answer.js';
import { Clock } from '../common/clock.js';
import { DatabaseUnavailableError } from '../common/domain-error.js';
import { Drain } from '../common/drain.js';
import { DatabaseRetry } from '../database/database-retry.js';
import { UpstreamPool } from '../upstreams/upstream-pool.js';
import { endedWork } from './ended-work.js';
import type { ForegroundCall } from './foreground-call.js';
import type { HandoverReason, RaceEvent, StopReason } from './foreground-race.js';
import { HandoverService, type SettledHandover } from './handover.service.js';
import { type ToolCallAnswer, toUpstreamRequest } from './tool-call.js';
import { CallerGoneError, stopError, toError } from './tool-call.errors.js';
import { UpstreamWork } from './upstream-work.js';

const RETRY_HANDOVER_MS = 1_000;

/** A call in the foreground: asks the upstream and lives through the race, event by event. */
@Injectable()
export class ForegroundFlow {
  constructor(
    private readonly upstreams: UpstreamPool,
    private readonly handovers: HandoverService,
    private readonly retry: DatabaseRetry,
    private readonly answers: HandoverAnswer,
    private readonly clock: Clock,
    private readonly drain: Drain,
  ) {}

  async run(call: ForegroundCall, autoAfterSec: number | null): Promise<ToolCallAnswer> {
    const { toolCall } = call;
    const work = new UpstreamWork((listener) =>
      this.upstreams.call(toolCall.server, toUpstreamRequest(toolCall), listener),
    );
    call.begin(work, this.clock.monotonicMs());
    if (autoAfterSec !== null) call.race.armHandover(autoAfterSec * 1_000, 'auto');
    for (;;) {
      const answer = await this.react(call, await call.race.next());
      if (answer) return answer;
    }
  }

  /** Undefined: the race goes on. */
  private async react(call: ForegroundCall, event: RaceEvent): Promise<ToolCallAnswer | undefined> {
    switch (event.kind) {
      case 'answer':
        return this.answer(call, event.outcome);
      case 'handover_due':
        return this.handOver(call, event.reason);
      case 'timeout':
        void call.work.cancel('its foreground time limit has passed');
        return this.answer(call, this.timeoutOutcome(call, event.limitSec));
      case 'stopped':
        return this.stop(call, event.reason);
    }
  }

  private async handOver(
    call: ForegroundCall,
    reason: HandoverReason,
  ): Promise<ToolCallAnswer | undefined> {
    if (this.drain.isDraining) {
      call.giveUpQuestions('The service is shutting down, so nobody can be asked.');
      return undefined;
    }
    const { latestProgress: progress, latestReference: reference } = call.work;
    const runningForMs = this.runningForMs(call);
    const circumstances = { handover: reason, runningForMs, progress, reference };
    const attempt = await this.handovers.move(call.toolCall, circumstances, () => call.work);
    switch (attempt.kind) {
      case 'moved':
        return this.answers.for(attempt.call);
      case 'limit_reached':
        call.giveUpQuestions('The limit of background calls is reached, so nobody can be asked.');
        return undefined;
      case 'turn_interrupted':
        return this.stop(call, 'turn_interrupted');
      case 'in_doubt':
        void this.seeToItsEnd(call, attempt.settled);
        throw new DatabaseUnavailableError();
      case 'unavailable':
      case 'not_owner':
        call.race.armHandover(RETRY_HANDOVER_MS, reason);
        return undefined;
    }
  }

  /** A doubtful call that has not moved after all is stopped, or told if its caller counts on that. */
  private async seeToItsEnd(
    call: ForegroundCall,
    settled: Promise<SettledHandover>,
  ): Promise<void> {
    const { kind } = await settled;
    if (kind === 'moved') return;
    if (kind === 'turn_interrupted' || !call.isAbandoned) void call.work.cancel('it did not move');
    else await this.record(call, await call.work.outcome);
  }

  private async answer(call: ForegroundCall, outcome: CallOutcome): Promise<ToolCallAnswer> {
    if (call.isAbandoned) {
      await this.record(call, outcome);
      throw new CallerGoneError();
    }
    if (outcome.kind !== 'result') throw toError(outcome);
    const durationMs = Math.round(this.runningForMs(call));
    return { outcome: 'completed', result: outcome.result, durationMs };
  }

  private async stop(call: ForegroundCall, reason: StopReason): Promise<ToolCallAnswer> {
    void call.work.cancel(reason);
    if (reason !== 'draining' || !call.isAbandoned) throw stopError(reason, true);
    const message = 'The service was shut down while the call was running.';
    return this.answer(call, { kind: 'error', code: 'interrupted', message, outcomeUnknown: true });
  }

  /**
   * An abandoned call that ended before it could move, for want of a slot or of the database: it is
   * recorded as a background call that has ended, so that its end is told.
   */
  private async record(call: ForegroundCall, outcome: CallOutcome): Promise<void> {
    const circumstances = {
      handover: 'client_timeout' as const,
      runningForMs: this.runningForMs(call),
      progress: call.work.latestProgress,
      ignoreLimits: true,
    };
    for (let tries = 1; ; tries++) {
      const { kind } = await this.handovers.move(call.toolCall, circumstances, () =>
        endedWork(outcome),
      );
      const hasMoved = kind !== 'unavailable' && kind !== 'not_owner';
      if (hasMoved || !(await this.retry.pause(tries))) return;
    }
  }

  private timeoutOutcome(call: ForegroundCall, limitSec: number): CallOutcome {
    const spentSec = Math.round(this.runningForMs(call) / 1_000);
    const message = `No answer within the foreground limit of ${limitSec} s; it ran for ${spentSec} s.`;
    return { kind: 'error', code: 'timeout', message, outcomeUnknown: true };
  }

  private runningForMs(call: ForegroundCall): number {
    return call.runningForMs(this.clock.monotonicMs());
  }
}
