import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/database.js';
import { Settings } from '../settings/settings.js';
import { TurnService } from '../targets/turn.service.js';
import type { HandoverRequest, HandoverResult } from './background-call.js';
import { HandoverLimitsRepository } from './handover-limits.repository.js';

/** Decides, inside the handover transaction, whether a call may move to the background. */
@Injectable()
export class HandoverGate {
  constructor(
    private readonly settings: Settings,
    private readonly turns: TurnService,
    private readonly limits: HandoverLimitsRepository,
  ) {}

  /** Undefined when nothing stands against it. The caller holds the target's lock. */
  async refusal(
    tx: Transaction,
    targetId: number,
    request: HandoverRequest,
  ): Promise<HandoverResult | undefined> {
    const { turnId } = request;
    if (turnId !== undefined && (await this.turns.isInterrupted(tx, targetId, turnId)))
      return { kind: 'turn_interrupted' };
    if (request.ignoreLimits) return undefined;
    return (await this.isFull(tx, targetId, request)) ? { kind: 'limit_reached' } : undefined;
  }

  /** Whether one more call would be too many; undefined `targetId`: a target without any call yet. */
  async isFull(
    tx: Transaction,
    targetId: number | undefined,
    { appId, agentId }: Pick<HandoverRequest, 'appId' | 'agentId'>,
  ): Promise<boolean> {
    const { maxPerTarget, maxPerAgent, maxRunning } = this.settings.current.backgroundCalls;
    const ofTarget = targetId === undefined ? 0 : await this.limits.runningOfTarget(tx, targetId);
    if (ofTarget >= maxPerTarget) return true;
    if (maxPerAgent !== null && agentId !== undefined)
      if ((await this.limits.runningOfAgent(tx, appId, agentId)) >= maxPerAgent) return true;
    return maxRunning !== null && (await this.limits.runningOfAll(tx)) >= maxRunning;
  }
}
