import { Injectable } from '@nestjs/common';
import { Logger } from '../common/logger.js';
import type { Transaction } from '../database/database.js';
import { EventLog } from '../events/event-log.repository.js';
import type { EventType } from '../events/event-type.js';
import type { BackgroundCall } from './background-call.js';
import { durationMsOf } from './call-duration.js';
import { CallMetrics } from './call-metrics.js';
import type { CloseReason } from './questions/input-request.js';

/**
 * What is kept of the moves of a call: an event in the transaction of the move; a log line and the
 * figures once it is known to be committed.
 */
@Injectable()
export class CallJournal {
  constructor(
    private readonly events: EventLog,
    private readonly metrics: CallMetrics,
    private readonly logger: Logger,
  ) {}

  async record(
    tx: Transaction,
    call: BackgroundCall,
    type: EventType,
    data: Record<string, unknown> = {},
  ): Promise<void> {
    const { appId, targetId, id: callId } = call;
    await this.events.append(tx, { appId, targetId, callId, type, data });
  }

  handedOver(call: BackgroundCall): void {
    this.metrics.handedOver(call);
    const { id: callId, handover, status, server } = call;
    const fields = { callId, handover, status, server: server.name };
    this.logger.info('background_call.handed_over', fields);
  }

  /** It waits in the queue again: its owner left before the upstream was asked. */
  queued({ id: callId }: BackgroundCall): void {
    this.logger.info('background_call.queued', { callId });
  }

  /** Another process's work is gone on with in this one. */
  takenOver({ id: callId, driver, server }: BackgroundCall): void {
    this.logger.info('background_call.taken_over', { callId, driver, server: server.name });
  }

  /** It has left the queue. */
  started({ id: callId }: BackgroundCall): void {
    this.logger.info('background_call.started', { callId });
  }

  inputRequired({ id: callId, questions: sequence }: BackgroundCall): void {
    this.logger.info('background_call.input_required', { callId, sequence });
  }

  /** It goes on after a question, for the reason for which that was closed. */
  resumed({ id: callId, questions: sequence }: BackgroundCall, reason: CloseReason): void {
    this.logger.info('background_call.resumed', { callId, sequence, reason });
  }

  ended(call: BackgroundCall): void {
    this.metrics.callEnded(call);
    const { id: callId, status, error } = call;
    const durationMs = durationMsOf(call);
    this.logger.info('background_call.ended', { callId, status, code: error?.code, durationMs });
  }
}
