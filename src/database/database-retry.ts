import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { backoffMs } from '../common/backoff.js';
import { DatabaseUnavailableError } from '../common/domain-error.js';

const LIMITS = { firstMs: 100, longestMs: 2_000 };

interface RetryTerms {
  /** Told of each failure that is followed by another try, or by giving up. */
  onAway: (error: DatabaseUnavailableError) => void;
  /** Asked before each further try. */
  isWanted?: () => boolean;
  /** Ends a pause, and the tries with it. */
  stop?: AbortSignal;
}

export interface GiveUpTerms extends RetryTerms {
  /** Told of what is no absence of the database: a defect. */
  onRefused: (error: unknown) => void;
}

/** Tries again for as long as the database is away. The pauses end when this process closes its database. */
@Injectable()
export class DatabaseRetry implements OnApplicationShutdown {
  private readonly closing = new AbortController();

  constructor() {
    // Each pause listens: as many as there are calls that wait for the database.
    setMaxListeners(0, this.closing.signal);
  }

  onApplicationShutdown(): void {
    this.closing.abort();
  }

  /** @throws DatabaseUnavailableError when no further try is wanted or possible; what else `attempt` throws. */
  async whileAway<T>(
    attempt: () => Promise<T>,
    { onAway, isWanted = always, stop }: RetryTerms,
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof DatabaseUnavailableError)) throw error;
        onAway(error);
        if (!isWanted() || !(await this.pause(tries, stop)) || !isWanted()) throw error;
      }
    }
  }

  /** Like `whileAway`, for what nobody can be told of: undefined when it was given up, for whatever reason. */
  async orGiveUp<T>(
    attempt: () => Promise<T>,
    { onRefused, ...terms }: GiveUpTerms,
  ): Promise<T | undefined> {
    try {
      return await this.whileAway(attempt, terms);
    } catch (error) {
      if (!(error instanceof DatabaseUnavailableError)) onRefused(error);
      return undefined;
    }
  }

  /**
   * 100 ms after the first try, twice as long after each further one, up to 2 s. False: cut short, by the
   * end or by `stop`.
   */
  async pause(tries: number, stop?: AbortSignal): Promise<boolean> {
    const signal = stop ? AbortSignal.any([this.closing.signal, stop]) : this.closing.signal;
    await sleep(backoffMs(tries, LIMITS), undefined, { signal }).catch(() => undefined);
    return !signal.aborted;
  }
}

const always = (): boolean => true;
