import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { BackgroundCall } from '../background-calls/background-call.js';
import { BackgroundCallRegistry } from '../background-calls/background-call.registry.js';
import { HandoverAnswer } from '../background-calls/handover-answer.js';
import { DatabaseUnavailableError } from '../common/domain-error.js';
import { Drain } from '../common/drain.js';
import { Logger } from '../common/logger.js';
import { TurnInterruptedError } from '../targets/turn-interrupted.error.js';
import { UpstreamPool } from '../upstreams/upstream-pool.js';
import { HandoverService } from './handover.service.js';
import type { ToolCall, ToolCallAnswer } from './tool-call.js';
import { UpstreamWork } from './upstream-work.js';

const RETRY_MS = 500;

/** Mode `always`: the caller is answered before the upstream is asked. */
@Injectable()
export class AlwaysHandover {
  constructor(
    private readonly handovers: HandoverService,
    private readonly registry: BackgroundCallRegistry,
    private readonly upstreams: UpstreamPool,
    private readonly answers: HandoverAnswer,
    private readonly drain: Drain,
    private readonly logger: Logger,
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

  private workOf({ server, request }: ToolCall, call: BackgroundCall): UpstreamWork {
    return UpstreamWork.after(
      () => this.mayAsk(call),
      (onProgress) => this.upstreams.call(server, request, onProgress),
    );
  }

  /** The mark is written before the upstream is asked; without it nobody may ask. */
  private async mayAsk(call: BackgroundCall): Promise<boolean> {
    for (;;) {
      try {
        return await this.registry.markDispatched(call);
      } catch (error) {
        this.logger.warn('background_call.dispatch_delayed', { callId: call.id }, error);
        if (this.handovers.isClosed || !(error instanceof DatabaseUnavailableError)) return false;
        await sleep(RETRY_MS);
      }
    }
  }
}
