import { Injectable } from '@nestjs/common';
import { Database, type Queryable, type Transaction } from '../database/database.js';
import { Settings } from '../settings/settings.js';
import type { TargetAddress } from './target-address.js';
import { type LockedTarget, TargetRepository } from './target.repository.js';
import { TurnHolds } from './turn-holds.js';
import { type InterruptListener, TurnInterrupts } from './turn-interrupts.js';
import type { TurnHold } from './turn-renewal.js';
import { TurnRules, type TurnState } from './turn-rules.js';
import { type TurnKey, TurnRepository } from './turn.repository.js';

/** Turns of sessions and bots: while one runs, nothing is handed out to its target. */
@Injectable()
export class TurnService {
  constructor(
    private readonly database: Database,
    private readonly targets: TargetRepository,
    private readonly turns: TurnRepository,
    private readonly rules: TurnRules,
    private readonly holds: TurnHolds,
    private readonly interrupts: TurnInterrupts,
    private readonly settings: Settings,
  ) {}

  /** Begins the turn, in place of an older one; a turn that has ended stays ended, which the answer says. */
  async start(appId: string, address: TargetAddress, turnId: string): Promise<TurnState> {
    return this.database.transaction(async (tx) => {
      const target = await this.targets.lock(tx, appId, address);
      return this.rules.open(tx, target, turnId);
    });
  }

  /** Like `start`, in the caller's transaction, which holds the target's lock. */
  async startIn(tx: Transaction, target: LockedTarget, turnId: string): Promise<TurnState> {
    return this.rules.open(tx, target, turnId);
  }

  /**
   * Ends the turn. When it is not the target's running turn, that one is not touched; an interruption is
   * recorded and told all the same, so that foreground calls of the turn are stopped on every replica.
   */
  async end(
    appId: string,
    address: TargetAddress,
    turnId: string,
    interrupted: boolean,
  ): Promise<void> {
    const turn: TurnKey = { appId, address, turnId };
    await this.database.transaction(async (tx) => {
      const target = await this.targets.lock(tx, appId, address);
      await this.rules.end(tx, target, turnId, interrupted);
      if (interrupted) await this.interrupts.tellOthers(tx, turn);
    });
    if (interrupted) this.interrupts.tellHere(turn);
  }

  /** A sign of life: whether the turn runs and has the whole idle time before it again. */
  async touch(appId: string, address: TargetAddress, turnId: string): Promise<boolean> {
    const target = await this.targets.find(this.database, appId, address);
    if (target === undefined) return false;
    const idleSec = this.settings.current.turns.idleTimeoutSec;
    return this.turns.touch(this.database, { targetId: target.id, turnId }, idleSec);
  }

  /**
   * Opens the turn for one of its calls and keeps it alive until the hold is released. The first call of
   * a turn writes once, further ones write nothing. A turn that has ended is not opened again and the
   * hold does nothing.
   * @throws TurnInterruptedError when the turn was ended with `interrupted`.
   */
  async hold(appId: string, address: TargetAddress, turnId: string): Promise<TurnHold> {
    return this.holds.hold({ appId, address, turnId });
  }

  /** Whether the turn was ended with `interrupted`. */
  async isInterrupted(db: Queryable, targetId: number, turnId: string): Promise<boolean> {
    const ended = await this.turns.findEnded(db, { targetId, turnId });
    return ended?.interrupted ?? false;
  }

  /** Calls `listener` right after an interruption was committed here, and when another replica tells of one. */
  onInterrupted(listener: InterruptListener): void {
    this.interrupts.onInterrupted(listener);
  }

  /** Those of `turns` that were interrupted: to look again after the listener was without connection. */
  async findInterrupted(turns: TurnKey[]): Promise<TurnKey[]> {
    return this.turns.findInterrupted(this.database, turns);
  }

  /** Ends a turn that has run out of time for good, before its target is taken as idle. */
  async settleExpired(tx: Transaction, target: LockedTarget): Promise<void> {
    await this.rules.settleExpired(tx, target);
  }
}
