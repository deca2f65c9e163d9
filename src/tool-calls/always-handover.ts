import { Injectable } from '@nestjs/common';
import type { BackgroundCall } from '../background-calls/background-call.js';
import { HandoverAnswer } from '../background-calls/handover-answer.js';
import { DatabaseUnavailableError } from '../common/domain-error.js';
import { Drain } from '../common/drain.js';
import { TurnInterruptedError } from '../targets/turn-interrupted.error.js';
import { UpstreamPool } from '../upstreams/upstream-pool.js';
import { DispatchMark } from './dispatch-mark.js';
import { HandoverService } from './handover.service.js';
import { type ToolCall, type ToolCallAnswer, toUpstreamRequest } from './tool-call.js';
import { UpstreamWork } from './upstream-work.js';

/** Mode `always`: the caller is answered before the upstream is asked. */
@Injectable()
export class AlwaysHandover {
  constructor(
    private readonly handovers: HandoverService,
    private readonly dispatchMark: DispatchMark,
    private readonly upstreams: UpstreamPool,
    private readonly answers: HandoverAnswer,
    private readonly drain: Drain,
  ) {}

  /**
   * Undefined: no slot is free, the call stays in the foreground.
   * @throws DatabaseUnavailableError before the upstream was asked; TurnInterruptedError, DrainingError
   */
  async tryMove(toolCall: ToolCall): Promise<ToolCallAnswer | undefined> {
    this.drain.assertAcceptsWork();
    const attempt = await this.handovers.move(toolCall, { handover: 'always' }, (call) =>
      this.workOf(toolCall, call),
    );
    if (attempt.kind === 'moved') return this.answers.for(attempt.call);
    if (attempt.kind === 'limit_reached') return undefined;
    if (attempt.kind === 'turn_interrupted') throw new TurnInterruptedError();
    throw new DatabaseUnavailableError();
  }

  private workOf(toolCall: ToolCall, call: BackgroundCall): UpstreamWork {
    return new UpstreamWork(
      (listener) => this.upstreams.call(toolCall.server, toUpstreamRequest(toolCall), listener),
      () => this.dispatchMark.set(call),
    );
  }
}
