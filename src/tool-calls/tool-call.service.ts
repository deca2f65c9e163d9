import { Injectable } from '@nestjs/common';
import { TurnService } from '../targets/turn.service.js';
import { AlwaysHandover } from './always-handover.js';
import { ForegroundCall } from './foreground-call.js';
import { ForegroundCalls } from './foreground-calls.js';
import { ForegroundFlow } from './foreground-flow.js';
import { QueuedHandover } from './queued-handover.js';
import { ToolCallAdmission } from './tool-call.admission.js';
import { ToolCallMetrics } from './tool-call-metrics.js';
import { stopError } from './tool-call.errors.js';
import type { ToolCallAnswer, ToolCallRequest } from './tool-call.js';

/**
 * The use case: decide, call, race, answer or hand over. A call that is answered in the foreground
 * causes no database statement, apart from opening its turn.
 */
@Injectable()
export class ToolCallService {
  constructor(
    private readonly admission: ToolCallAdmission,
    private readonly turns: TurnService,
    private readonly always: AlwaysHandover,
    private readonly queued: QueuedHandover,
    private readonly flow: ForegroundFlow,
    private readonly foreground: ForegroundCalls,
    private readonly metrics: ToolCallMetrics,
  ) {}

  /**
   * @param callerGone aborts when nobody waits for the answer any more.
   * @throws ServerNotFoundError, LimitReachedError, TurnInterruptedError, DrainingError,
   *   DatabaseUnavailableError, and the errors of `tool-call.errors.ts` for a call that ends in the
   *   foreground without a result.
   */
  async call(request: ToolCallRequest, callerGone: AbortSignal): Promise<ToolCallAnswer> {
    return this.metrics.measure(() => this.serve(request, callerGone));
  }

  private async serve(request: ToolCallRequest, callerGone: AbortSignal): Promise<ToolCallAnswer> {
    const call = new ForegroundCall(await this.admission.admit(request));
    const onGone = (): void => call.callerGone();
    callerGone.addEventListener('abort', onGone, { once: true });
    this.foreground.add(call);
    if (callerGone.aborted) onGone();
    try {
      return await this.withinTurn(call);
    } finally {
      this.foreground.remove(call);
      callerGone.removeEventListener('abort', onGone);
    }
  }

  /** A call opens its turn and keeps it alive while its caller waits. */
  private async withinTurn(call: ForegroundCall): Promise<ToolCallAnswer> {
    const { appId, address, turnId } = call.toolCall.request;
    if (turnId === undefined) return this.answer(call);
    const turn = await this.turns.hold(appId, address, turnId);
    try {
      return await this.answer(call);
    } finally {
      turn.release();
    }
  }

  /** Nothing is begun for a call that was told to stop while it was admitted. */
  private async answer(call: ForegroundCall): Promise<ToolCallAnswer> {
    const stopped = call.race.pendingStop;
    if (stopped) throw stopError(stopped, false);
    const { toolCall } = call;
    const { mode, autoAfterSec, onLimit } = toolCall.policy;
    if (mode === 'never') return this.flow.run(call, null);
    if (onLimit === 'queue' && (await this.queued.mustWait(toolCall)))
      return this.queued.move(toolCall);
    if (mode === 'auto') return this.flow.run(call, autoAfterSec);
    const moved = await this.always.tryMove(toolCall);
    if (moved) return moved;
    return onLimit === 'queue' ? this.queued.move(toolCall) : this.flow.run(call, null);
  }
}
