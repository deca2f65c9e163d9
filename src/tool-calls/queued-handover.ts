import { Injectable } from '@nestjs/common';
import { CallQueue } from '../background-calls/queue/call-queue.js';
import { HandoverAnswer } from '../background-calls/handover/handover-answer.js';
import { DatabaseUnavailableError } from '../common/domain-error.js';
import { Drain } from '../common/drain.js';
import { HandoverService } from './handover.service.js';
import { movedCall } from './moved-call.js';
import type { ToolCall, ToolCallAnswer } from './tool-call.js';

/** `onLimit: queue`: without a free slot the caller is answered at once, and the call starts when it can. */
@Injectable()
export class QueuedHandover {
  constructor(
    private readonly queue: CallQueue,
    private readonly handovers: HandoverService,
    private readonly answers: HandoverAnswer,
    private readonly drain: Drain,
  ) {}

  /** Whether the call has to wait; while nobody can say, it starts and its handover decides. */
  async mustWait({ request }: ToolCall): Promise<boolean> {
    try {
      return await this.queue.mustWait(request);
    } catch (error) {
      if (error instanceof DatabaseUnavailableError) return false;
      throw error;
    }
  }

  /** @throws DatabaseUnavailableError, TurnInterruptedError, DrainingError; the upstream was not asked */
  async move(toolCall: ToolCall): Promise<ToolCallAnswer> {
    this.drain.assertAcceptsWork();
    return this.answers.for(movedCall(await this.handovers.queue(toolCall)));
  }
}
