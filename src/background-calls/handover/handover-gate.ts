import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/database.js';
import { Settings } from '../../settings/settings.js';
import { TurnService } from '../../targets/turn.service.js';
import type { HandoverRequest, HandoverResult } from '../background-call.js';
import { HandoverLimitsRepository } from './handover-limits.repository.js';

/** Whose limit one more call would exceed: its session's or bot's, its agent's, the service's. */
type Obstacle = 'target' | 'agent' | 'all';

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
    const obstacle = await this.obstacle(tx, targetId, request);
    return obstacle === undefined ? undefined : { kind: 'limit_reached' };
  }

  /**
   * The limit for which one more call would be too many; undefined: a slot is free. Undefined
   * `targetId`: a target without any call yet.
   */
  async obstacle(
    tx: Transaction,
    targetId: number | undefined,
    { appId, agentId }: Pick<HandoverRequest, 'appId' | 'agentId'>,
  ): Promise<Obstacle | undefined> {
    const { maxPerTarget, maxPerAgent, maxRunning } = this.settings.current.backgroundCalls;
    const ofTarget = targetId === undefined ? 0 : await this.limits.runningOfTarget(tx, targetId);
    if (ofTarget >= maxPerTarget) return 'target';
    if (maxPerAgent !== null && agentId !== undefined)
      if ((await this.limits.runningOfAgent(tx, appId, agentId)) >= maxPerAgent) return 'agent';
    if (maxRunning !== null && (await this.limits.runningOfAll(tx)) >= maxRunning) return 'all';
    return undefined;
  }
}
