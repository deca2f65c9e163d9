import { targetKey } from './target-address.js';
import type { TurnState } from './turn-rules.js';
import type { TurnKey } from './turn.repository.js';

/** What this process knows of a turn without asking the database. */
export interface KnownTurn {
  targetId: number;
  state: TurnState;
}

interface Entry {
  state: TurnState;
  targetId: number | undefined;
  /** On the monotonic clock. */
  freshUntilMs: number;
}

const MAX_ENTRIES = 10_000;

export function turnKeyText({ appId, address, turnId }: TurnKey): string {
  return `${targetKey(appId, address)}/${turnId}`;
}

/**
 * Lets the calls of one turn share one write. A stale entry cannot keep a turn alive: renewals ask the
 * row. The one thing that must not be missed is an interruption, which therefore outlives freshness.
 */
export class TurnCache {
  private entries = new Map<string, Entry>();
  private generation = 0;

  /** Changes when all knowledge was dropped; an answer asked for before that is not remembered. */
  get epoch(): number {
    return this.generation;
  }

  find(key: string, nowMs: number): KnownTurn | undefined {
    const entry = this.entries.get(key);
    if (entry?.targetId === undefined || entry.freshUntilMs <= nowMs) return undefined;
    return { targetId: entry.targetId, state: entry.state };
  }

  isInterrupted(key: string): boolean {
    return this.entries.get(key)?.state === 'interrupted';
  }

  remember(key: string, turn: KnownTurn, freshUntilMs: number, epoch: number): void {
    if (epoch !== this.generation || this.isInterrupted(key)) return;
    this.put(key, { ...turn, freshUntilMs });
  }

  refresh(key: string, freshUntilMs: number): void {
    const entry = this.entries.get(key);
    if (entry?.state === 'running') entry.freshUntilMs = freshUntilMs;
  }

  markInterrupted(key: string): void {
    this.put(key, { state: 'interrupted', targetId: undefined, freshUntilMs: 0 });
  }

  clear(): void {
    this.entries.clear();
    this.generation += 1;
  }

  private put(key: string, entry: Entry): void {
    this.entries.delete(key);
    this.entries.set(key, entry);
    const [oldest] = this.entries.keys();
    if (this.entries.size > MAX_ENTRIES && oldest !== undefined) this.entries.delete(oldest);
  }
}
