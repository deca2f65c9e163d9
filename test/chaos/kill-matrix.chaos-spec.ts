import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Chance } from './chance.js';
import { CHAOS } from './chaos-options.js';
import type { Evidence } from './evidence.js';
import { FAILPOINTS } from './failpoint-table.mjs';
import { INVARIANTS } from './invariants.js';
import { KillLane, type Stage } from './kill-lane.js';

jest.setTimeout(600_000);

const LANES = 4;
/** The second death at each point comes later: what can wait for it has begun by then. */
const LATER = 4;
const TAKE_OVER = 'take-over.';

const wanted = new RegExp(CHAOS.points);
const names = Object.entries(FAILPOINTS)
  .filter(([name, { isExtra }]) => wanted.test(name) && (CHAOS.isLong || !isExtra))
  .map(([name]) => name);
const takeOvers = names.filter((name) => name.startsWith(TAKE_OVER));
const others = names.filter((name) => !name.startsWith(TAKE_OVER));
const twice = (point: string, later: number): Stage[] => [1, later].map((nth) => ({ point, nth }));

interface Lane {
  stages: Stage[];
  holdsTasks: boolean;
}

const lanes: Lane[] = [
  // There are as many calls to take over as are held.
  { stages: takeOvers.flatMap((point) => twice(point, 2)), holdsTasks: true },
  ...Array.from({ length: LANES - 1 }, (_, lane) => ({
    stages: others
      .filter((_point, index) => index % (LANES - 1) === lane)
      .flatMap((point) => twice(point, LATER)),
    holdsTasks: false,
  })),
].filter(({ stages }) => stages.length > 0);

describe('a service that is killed', () => {
  const opened: KillLane[] = [];
  const evidence = new Map<Lane, Promise<[KillLane, Evidence]>>();

  beforeAll(() => {
    for (const [index, lane] of lanes.entries()) {
      const running = runLane(lane, `lane-${index}`);
      running.catch(() => undefined);
      evidence.set(lane, running);
    }
  });

  afterAll(async () => {
    await Promise.allSettled(evidence.values());
    await Promise.all(opened.map((lane) => lane.close()));
  });

  async function runLane(lane: Lane, name: string): Promise<[KillLane, Evidence]> {
    const opening = await KillLane.open(new Chance(CHAOS.seed).for(name));
    opened.push(opening);
    return [opening, await opening.run(lane.stages, lane.holdsTasks)];
  }

  describe.each(lanes)('in lane %#', (lane) => {
    it.each(lane.stages)('at $point, number $nth, dies there', async (stage) => {
      const [{ died }] = await evidence.get(lane)!;
      expect(died.has(stage)).toBe(true);
    });

    it.each(INVARIANTS)('keeps $id: $says', async ({ violations }) => {
      const [, seen] = await evidence.get(lane)!;
      expect(violations(seen)).toEqual([]);
    });
  });
});
