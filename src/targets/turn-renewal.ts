import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Logger } from '../common/logger.js';
import { outsideRequestContext } from '../common/request-context.js';
import { Database } from '../database/database.js';
import { Settings } from '../settings/settings.js';
import { type TurnOfTarget, TurnRepository } from './turn.repository.js';

/** Keeps a turn from running out of time until it is released. */
export interface TurnHold {
  /** May be called more than once. */
  release(): void;
}

interface Held extends TurnOfTarget {
  key: string;
  holders: number;
  /** The turn was found to be over: there is nothing left to renew. */
  isOver: boolean;
}

const MAX_BEAT_MS = 30_000;
/** A missed beat or two must not end a turn. */
const BEATS_PER_IDLE_TIME = 3;

/** Renews all held turns of this process: one timer, one statement a beat, none while nothing is held. */
@Injectable()
export class TurnRenewal implements OnApplicationShutdown {
  private readonly held = new Map<string, Held>();
  private readonly renewedHandlers = new Set<(key: string) => void>();
  private timer: NodeJS.Timeout | undefined;
  private nextBeatMs = Infinity;
  private stopped = false;

  constructor(
    private readonly database: Database,
    private readonly turns: TurnRepository,
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Milliseconds between renewals: at most 30 s, and at most a third of the idle time. */
  get beatMs(): number {
    const idleMs = this.settings.current.turns.idleTimeoutSec * 1_000;
    return Math.min(MAX_BEAT_MS, idleMs / BEATS_PER_IDLE_TIME);
  }

  /** Called with the key of each turn that was found running and renewed. */
  onRenewed(handler: (key: string) => void): void {
    this.renewedHandlers.add(handler);
  }

  hold(key: string, turn: TurnOfTarget): TurnHold {
    const held = this.held.get(key) ?? { ...turn, key, holders: 0, isOver: false };
    held.holders += 1;
    this.held.set(key, held);
    this.beatWithin(this.beatMs);
    let isReleased = false;
    return {
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.letGo(held);
      },
    };
  }

  onApplicationShutdown(): void {
    this.stopped = true;
    this.held.clear();
    this.rest();
  }

  private letGo(held: Held): void {
    held.holders -= 1;
    if (held.holders > 0) return;
    this.held.delete(held.key);
    if (this.held.size === 0) this.rest();
  }

  private rest(): void {
    clearTimeout(this.timer);
    this.nextBeatMs = Infinity;
  }

  /** The idle time may have been shortened since the timer was set. */
  private beatWithin(delayMs: number): void {
    const atMs = this.clock.monotonicMs() + delayMs;
    if (this.stopped || atMs >= this.nextBeatMs) return;
    clearTimeout(this.timer);
    this.nextBeatMs = atMs;
    this.timer = outsideRequestContext(() => setTimeout(() => void this.beat(), delayMs));
  }

  private async beat(): Promise<void> {
    const running = [...this.held.values()].filter(({ isOver }) => !isOver);
    try {
      if (running.length > 0) await this.renew(running);
    } catch (error) {
      this.logger.warn('turns.renewal_failed', { turns: running.length }, error);
    }
    this.nextBeatMs = Infinity;
    if (this.held.size > 0) this.beatWithin(this.beatMs);
  }

  /** One statement; those that it passed over were locked at the moment, or are over. */
  private async renew(running: Held[]): Promise<void> {
    const idleSec = this.settings.current.turns.idleTimeoutSec;
    const renewed = await this.turns.renew(this.database, running, idleSec);
    const lines = new Set(renewed.map(lineOf));
    for (const held of running) {
      const isAlive =
        lines.has(lineOf(held)) || (await this.turns.touch(this.database, held, idleSec));
      held.isOver = !isAlive;
      if (isAlive) for (const handler of this.renewedHandlers) handler(held.key);
    }
  }
}

function lineOf({ targetId, turnId }: TurnOfTarget): string {
  return `${targetId}/${turnId}`;
}
