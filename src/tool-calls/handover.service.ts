import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type {
  BackgroundCall,
  Handover,
  HandoverRequest,
  HandoverResult,
} from '../background-calls/background-call.js';
import { BackgroundCallRegistry } from '../background-calls/background-call.registry.js';
import type { CallWork, WorkProgress } from '../background-calls/call-work.js';
import { InFlightCalls } from '../background-calls/in-flight/in-flight-calls.js';
import { ProgressWriter } from '../background-calls/in-flight/progress-writer.js';
import { Logger } from '../common/logger.js';
import { DatabaseRetry } from '../database/database-retry.js';
import { CommitOutcomeUnknownError } from '../database/database.js';
import type { ToolCall } from './tool-call.js';

const IN_DOUBT_MS = 30_000;

export interface HandoverCircumstances {
  handover: Handover;
  /** Milliseconds since the upstream was asked; absent: it was not asked yet. */
  runningForMs?: number;
  progress?: WorkProgress;
  /** What another process would need to go on with the work. */
  reference?: object;
  ignoreLimits?: boolean;
}

export type HandoverAttempt =
  | HandoverResult
  /** Surely no row was written. */
  | { kind: 'unavailable' }
  /** Nobody could say for 30 s whether the row was written; what came of it is still found out. */
  | { kind: 'in_doubt'; settled: Promise<SettledHandover> };

export type SettledHandover = HandoverResult | { kind: 'unavailable' };

/** Moves a call to the background and finds out whether it has moved, also when the COMMIT broke off. */
@Injectable()
export class HandoverService {
  constructor(
    private readonly registry: BackgroundCallRegistry,
    private readonly inFlight: InFlightCalls,
    private readonly progress: ProgressWriter,
    private readonly retry: DatabaseRetry,
    private readonly logger: Logger,
  ) {}

  /** `workOf` gives the work behind the call once it has moved, in time or after a doubt. */
  async move(
    toolCall: ToolCall,
    circumstances: HandoverCircumstances,
    workOf: (call: BackgroundCall) => CallWork,
  ): Promise<HandoverAttempt> {
    const { id } = toolCall;
    this.inFlight.announce(id);
    const settled = this.settle(this.toRequest(toolCall, circumstances)).then((attempt) => {
      if (attempt.kind === 'moved') this.adopt(attempt.call, toolCall, circumstances, workOf);
      return attempt;
    });
    void settled.catch(() => undefined).then(() => this.inFlight.retract(id));
    return withinDoubt(settled);
  }

  /** Records the call as one that waits for a slot; whichever replica has one begins its work. */
  async queue(toolCall: ToolCall): Promise<HandoverAttempt> {
    const circumstances = { handover: 'queued', ignoreLimits: true } as const;
    return withinDoubt(this.settle(this.toRequest(toolCall, circumstances)));
  }

  /** After a doubt the call may be in other hands by now, and its work must not be begun a second time. */
  private adopt(
    call: BackgroundCall,
    { policy }: ToolCall,
    { runningForMs }: HandoverCircumstances,
    workOf: (call: BackgroundCall) => CallWork,
  ): void {
    if (this.inFlight.owns(call)) return this.inFlight.adopt(call, policy, workOf(call));
    if (runningForMs === undefined) return;
    if (call.reference) workOf(call).detach();
    else void workOf(call).cancel('the call was taken over');
  }

  /** While nobody can know, any answer might be a lie: asks until the database can be asked. */
  private async settle(request: HandoverRequest): Promise<SettledHandover> {
    const { id: callId } = request;
    let mayExist = false;
    const settled = await this.retry.orGiveUp(() => this.registry.handOver(request), {
      onAway: (error) => {
        this.logger.warn('background_call.handover_failed', { callId }, error);
        mayExist ||= error instanceof CommitOutcomeUnknownError;
      },
      onRefused: (error) => this.logger.error('background_call.handover_failed', { callId }, error),
      isWanted: () => mayExist,
    });
    return settled ?? { kind: 'unavailable' };
  }

  private toRequest(
    { id, request, server, policy }: ToolCall,
    { handover, runningForMs, progress, reference, ignoreLimits = false }: HandoverCircumstances,
  ): HandoverRequest {
    return {
      id,
      appId: request.appId,
      address: request.address,
      handover,
      agentId: request.agentId,
      turnId: request.turnId,
      toolCallId: request.toolCallId,
      server: { id: server.id, name: server.name, title: server.title },
      tool: request.tool,
      arguments: JSON.stringify(request.arguments),
      policy,
      progress: progress && this.progress.stamp(progress),
      reference,
      traceparent: request.traceparent,
      runningForMs,
      ignoreLimits,
    };
  }
}

async function withinDoubt(settled: Promise<SettledHandover>): Promise<HandoverAttempt> {
  const enough = new AbortController();
  const inDoubt = { kind: 'in_doubt', settled } as const;
  const doubt = sleep(IN_DOUBT_MS, inDoubt, { signal: enough.signal });
  try {
    return await Promise.race([settled, doubt.catch(() => settled)]);
  } finally {
    enough.abort();
  }
}
