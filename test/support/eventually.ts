import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_MS = 10;

/** Looks until `look` answers something (not undefined, not false), or throws after the deadline. */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = 10_000,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${what}`);
    await sleep(LOOK_MS);
  }
}
