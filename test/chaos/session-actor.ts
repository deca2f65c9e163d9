import { setTimeout as sleep } from 'node:timers/promises';
import type { CarefulApi } from './careful-api.js';
import type { Chance } from './chance.js';
import type { Sightings } from './sightings.js';

/** What a session does, and how often in relation to the rest. */
export interface Habits {
  always: number;
  automatic: number;
  foreground: number;
  queued: number;
  task: number;
  question: number;
  turn: number;
  cancel: number;
  /** Milliseconds between two deeds, at most. */
  pauseMs: number;
  /** How long a call takes at most, ms. */
  longestMs: number;
}

type Deed = Exclude<keyof Habits, 'pauseMs' | 'longestMs'>;

const QUICK_MS = 50;

/** An engine with one session: calls, cancels, begins turns and ends them, one thing after another. */
export class SessionActor {
  private calls = 0;
  private turnCount = 0;
  /** Public ids of calls that may still run. */
  private readonly recent: string[] = [];

  constructor(
    private readonly api: CarefulApi,
    private readonly sightings: Sightings,
    readonly sessionId: string,
    private readonly chance: Chance,
    private readonly habits: Habits,
  ) {}

  /** Until it is told to stop; it leaves no turn open that it can end. */
  async live(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      await this.do(this.nextDeed(), stop);
      await sleep(this.chance.between(0, this.habits.pauseMs), undefined, { signal: stop }).catch(
        () => undefined,
      );
    }
  }

  private nextDeed(): Deed {
    const { pauseMs: _pause, longestMs: _longest, ...deeds } = this.habits;
    const weights = Object.entries(deeds) as [Deed, number][];
    let draw = this.chance.next() * weights.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [deed, weight] of weights) {
      draw -= weight;
      if (draw < 0) return deed;
    }
    return 'always';
  }

  private async do(deed: Deed, stop: AbortSignal): Promise<void> {
    switch (deed) {
      case 'always':
        return this.call({ background: { mode: 'always' } });
      case 'automatic':
        return this.call({ background: { autoAfterSec: 0.05 } });
      case 'foreground':
        return this.call({ background: { mode: 'never' } }, QUICK_MS);
      case 'queued':
        return this.call({ background: { mode: 'always', onLimit: 'queue' } });
      case 'task':
        return this.call({ server: 'lasting', tool: 'research', background: { mode: 'always' } });
      case 'question':
        return this.call({ server: 'asking', tool: 'inquire' });
      case 'turn':
        return this.turn(stop);
      case 'cancel':
        return this.cancel();
    }
  }

  private async call(more: object, longestMs = this.habits.longestMs): Promise<void> {
    const name = `${this.sessionId}.${(this.calls += 1)}`;
    const outcome = this.chance.oneOf(['text', 'text', 'text', 'long', 'error']);
    const body = {
      server: this.chance.oneOf(['plain', 'lasting']),
      tool: 'work',
      arguments: { name, ms: this.chance.between(0, longestMs), outcome },
      ...more,
    };
    this.sightings.count('calls');
    const answer = await this.api.post(`/v1/sessions/${this.sessionId}/tool-calls`, body);
    if (answer?.status === 202) {
      const { id } = answer.body.call as { id: string };
      this.sightings.accept(id, this.sessionId, name);
      this.recent.push(id);
    } else if (answer?.status === 200) this.sightings.count('answered');
    else if (answer) this.sightings.count('refused');
  }

  /** Calls of its own within; sometimes its user stops it. */
  private async turn(stop: AbortSignal): Promise<void> {
    const turnId = `${this.sessionId}-turn-${(this.turnCount += 1)}`;
    const interrupted = this.chance.happens(0.2);
    const end = (): Promise<boolean> => this.api.endTurn(this.sessionId, turnId, interrupted);
    this.sightings.openTurns.set(turnId, end);
    const started = await this.api.post(`/v1/sessions/${this.sessionId}/turns`, { turnId });
    const startedAtMs = performance.now();
    await this.call({ turnId, background: { mode: 'always' } });
    if (this.chance.happens(0.5)) await this.call({ turnId, background: { autoAfterSec: 0.05 } });
    await sleep(this.chance.between(0, 300), undefined, { signal: stop }).catch(() => undefined);
    const endedAtMs = performance.now();
    if (started?.status === 200)
      this.sightings.turns.push({ sessionId: this.sessionId, turnId, startedAtMs, endedAtMs });
    if (await this.sightings.endTurn(turnId)) this.sightings.count('turns');
  }

  private async cancel(): Promise<void> {
    const id = this.recent.pop();
    if (id === undefined) return this.call({ background: { mode: 'always' } });
    const answer = await this.api.post(`/v1/background-calls/${id}/cancel`);
    if (answer?.status === 202) this.sightings.count('cancels');
  }
}
