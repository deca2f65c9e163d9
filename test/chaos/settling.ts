import { setTimeout as sleep } from 'node:timers/promises';
import type { ChaosDatabase } from './chaos-database.js';
import type { Sightings } from './sightings.js';

const LOOK_MS = 100;

/**
 * Ends, until it is answered, the turns whose end nobody has answered by now: their sessions would never be
 * told. Turns that begin later are left to whoever begins them.
 */
export async function endOpenTurns(sightings: Sightings, stop: AbortSignal): Promise<void> {
  let left = [...sightings.openTurns.keys()];
  while (left.length > 0 && !stop.aborted) {
    for (const turnId of left) await sightings.endTurn(turnId);
    left = left.filter((turnId) => sightings.openTurns.has(turnId));
    await sleep(LOOK_MS);
  }
}

/** Until every call has ended and every end was received, or the time is over: then the checks say what is not. */
export async function untilSettled(database: ChaosDatabase, withinMs: number): Promise<void> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const { calls, notifications } = await database.countUnsettled();
    if (calls + notifications === 0 || performance.now() > deadline) return;
    await sleep(LOOK_MS);
  }
}
