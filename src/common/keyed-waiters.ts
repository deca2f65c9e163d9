/**
 * Long polls that sleep until a key is woken. No waiter polls by itself: whoever learns of a change
 * wakes the key, and the waiter looks again.
 */
export class KeyedWaiters {
  private readonly waiting = new Map<string, Set<() => void>>();

  get size(): number {
    return this.waiting.size;
  }

  keys(): string[] {
    return [...this.waiting.keys()];
  }

  wake(key: string): void {
    for (const resume of this.waiting.get(key) ?? []) resume();
  }

  wakeAll(): void {
    for (const key of this.keys()) this.wake(key);
  }

  /**
   * Calls `look` until it finds something, the time is over or `signal` aborts; answers what the last
   * look found. The waiter is registered before each look, so a change during the look is not missed.
   */
  async until<T>(
    key: string,
    waitMs: number,
    signal: AbortSignal,
    look: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const timeUp = AbortSignal.any([signal, AbortSignal.timeout(waitMs)]);
    for (;;) {
      const change = this.nextChange(key, timeUp);
      try {
        const found = await look();
        if (found !== undefined || timeUp.aborted) return found;
        await change.happened;
        if (signal.aborted) return undefined;
      } finally {
        change.forget();
      }
    }
  }

  private nextChange(
    key: string,
    signal: AbortSignal,
  ): { happened: Promise<void>; forget(): void } {
    let resume = (): void => undefined;
    const happened = new Promise<void>((resolve) => (resume = resolve));
    const waiters = this.waiting.get(key) ?? new Set();
    this.waiting.set(key, waiters.add(resume));
    signal.addEventListener('abort', resume, { once: true });
    const forget = (): void => {
      signal.removeEventListener('abort', resume);
      waiters.delete(resume);
      if (waiters.size === 0) this.waiting.delete(key);
    };
    return { happened, forget };
  }
}
