import { Injectable } from '@nestjs/common';
import type { Transaction } from '../database/database.js';
import { EventLog } from '../events/event-log.repository.js';
import { Settings } from '../settings/settings.js';
import { notifyDeliveryReady } from './delivery-ready.js';
import type { LockedTarget } from './target.repository.js';
import { TurnRepository } from './turn.repository.js';

/** What an attempt to open a turn found: an ended turn stays ended. */
export type TurnState = 'running' | 'ended' | 'interrupted';
/** Why a turn ended: by the engine, by its user, by a newer turn, by silence. */
type TurnEndReason = 'ended' | 'interrupted' | 'replaced' | 'idle';

/** The rules of turns, applied to a target whose row lock is held. */
@Injectable()
export class TurnRules {
  constructor(
    private readonly turns: TurnRepository,
    private readonly events: EventLog,
    private readonly settings: Settings,
  ) {}

  /** Makes the turn the running one, in place of an older one; an id that has ended is not opened again. */
  async open(tx: Transaction, target: LockedTarget, turnId: string): Promise<TurnState> {
    const turn = { targetId: target.id, turnId };
    await this.settleExpired(tx, target);
    const idleSec = this.settings.current.turns.idleTimeoutSec;
    if (target.turnId === turnId) {
      await this.turns.touch(tx, turn, idleSec);
      return 'running';
    }
    const ended = await this.turns.findEnded(tx, turn);
    if (ended !== undefined) return ended.interrupted ? 'interrupted' : 'ended';
    if (target.turnId !== null) await this.record(tx, target, target.turnId, 'replaced');
    await this.turns.open(tx, turn, idleSec);
    await this.events.append(tx, {
      appId: target.appId,
      targetId: target.id,
      type: 'turn.started',
      data: { turnId },
    });
    return 'running';
  }

  /**
   * Records the end of the turn; only when it is the running one does the target become idle.
   * An id that was never seen is recorded too: its start, or a call of it, may still be on its way.
   */
  async end(
    tx: Transaction,
    target: LockedTarget,
    turnId: string,
    interrupted: boolean,
  ): Promise<void> {
    await this.settleExpired(tx, target);
    await this.record(tx, target, turnId, interrupted ? 'interrupted' : 'ended');
    if (target.turnId !== turnId) return;
    await this.turns.close(tx, { targetId: target.id, turnId });
    await notifyDeliveryReady(tx, target);
  }

  /** Ends the turn that has run out of time, for good: nobody can revive it after the target was taken as idle. */
  async settleExpired(tx: Transaction, target: LockedTarget): Promise<void> {
    if (target.expiredTurnId === null) return;
    await this.record(tx, target, target.expiredTurnId, 'idle');
    await this.turns.close(tx, { targetId: target.id, turnId: target.expiredTurnId });
  }

  private async record(
    tx: Transaction,
    target: LockedTarget,
    turnId: string,
    reason: TurnEndReason,
  ): Promise<void> {
    const turn = { targetId: target.id, turnId };
    const isNews = await this.turns.recordEnded(tx, turn, reason === 'interrupted');
    if (!isNews) return;
    await this.events.append(tx, {
      appId: target.appId,
      targetId: target.id,
      type: 'turn.ended',
      data: { turnId, reason },
    });
  }
}
