import { Injectable } from '@nestjs/common';
import { HandoverAnswer } from '../background-calls/handover/handover-answer.js';
import { Drain } from '../common/drain.js';
import { UpstreamPool } from '../upstreams/upstream-pool.js';
import { DispatchMark } from './dispatch-mark.js';
import { HandoverService } from './handover.service.js';
import { movedCall } from './moved-call.js';
import { type ToolCall, type ToolCallAnswer, toUpstreamRequest } from './tool-call.js';

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
      this.dispatchMark.workOf(call, (listener) =>
        this.upstreams.call(toolCall.server, toUpstreamRequest(toolCall), listener),
      ),
    );
    return attempt.kind === 'limit_reached' ? undefined : this.answers.for(movedCall(attempt));
  }
}
