import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { ChannelListener } from '../database/channel-listener.js';
import { Database } from '../database/database.js';
import { TargetRepository } from './target.repository.js';
import { type KnownTurn, TurnCache, turnKeyText } from './turn-cache.js';
import { TurnInterruptedError } from './turn-interrupted.error.js';
import { TurnInterrupts } from './turn-interrupts.js';
import { type TurnHold, TurnRenewal } from './turn-renewal.js';
import { TurnRules } from './turn-rules.js';
import type { TurnKey } from './turn.repository.js';

const NOTHING_HELD: TurnHold = { release: () => undefined };

/** Opens a turn for its calls: the first one writes, the others share what it found. */
@Injectable()
export class TurnHolds implements OnModuleInit {
  private readonly cache = new TurnCache();
  private readonly opening = new Map<string, Promise<KnownTurn>>();

  constructor(
    private readonly database: Database,
    private readonly targets: TargetRepository,
    private readonly rules: TurnRules,
    private readonly renewal: TurnRenewal,
    private readonly interrupts: TurnInterrupts,
    private readonly channels: ChannelListener,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.interrupts.onInterrupted((turn) => this.cache.markInterrupted(turnKeyText(turn)));
    this.renewal.onRenewed((key) => this.cache.refresh(key, this.freshUntilMs()));
    // An interruption that was told while nobody listened is found by asking the row again.
    this.channels.onReconnect(() => this.cache.clear());
  }

  /** @throws TurnInterruptedError when the turn was ended with `interrupted`. */
  async hold(turn: TurnKey): Promise<TurnHold> {
    const key = turnKeyText(turn);
    this.assertNotInterrupted(key);
    const known =
      this.cache.find(key, this.clock.monotonicMs()) ?? (await this.openOnce(key, turn));
    this.assertNotInterrupted(key);
    if (known.state === 'interrupted') throw new TurnInterruptedError();
    if (known.state === 'ended') return NOTHING_HELD;
    return this.renewal.hold(key, { targetId: known.targetId, turnId: turn.turnId });
  }

  private assertNotInterrupted(key: string): void {
    if (this.cache.isInterrupted(key)) throw new TurnInterruptedError();
  }

  private async openOnce(key: string, turn: TurnKey): Promise<KnownTurn> {
    const running = this.opening.get(key) ?? this.open(key, turn);
    this.opening.set(key, running);
    try {
      return await running;
    } finally {
      this.opening.delete(key);
    }
  }

  private async open(key: string, turn: TurnKey): Promise<KnownTurn> {
    const epoch = this.cache.epoch;
    const freshUntilMs = this.freshUntilMs();
    const known = await this.database.transaction(async (tx) => {
      const target = await this.targets.lock(tx, turn.appId, turn.address);
      return { targetId: target.id, state: await this.rules.open(tx, target, turn.turnId) };
    });
    this.cache.remember(key, known, freshUntilMs, epoch);
    return known;
  }

  private freshUntilMs(): number {
    return this.clock.monotonicMs() + this.renewal.beatMs;
  }
}
