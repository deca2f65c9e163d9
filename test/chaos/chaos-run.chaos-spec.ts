import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { CHAOS } from './chaos-options.js';
import { ChaosRun, LEAST } from './chaos-run.js';
import type { Evidence } from './evidence.js';
import { INVARIANTS } from './invariants.js';
import { asTable, runFigures } from './run-table.js';

const { minutes, seed } = CHAOS;

jest.setTimeout((3 * minutes + 5) * 60_000);

describe(`two replicas in trouble for ${minutes} min, seed ${seed}`, () => {
  let run: ChaosRun;
  let evidence: Evidence;
  let figures: Record<string, number>;

  beforeAll(async () => {
    run = await ChaosRun.start(seed);
    evidence = await run.run(minutes);
    figures = runFigures(run.world.sightings, evidence);
    const violations = INVARIANTS.reduce((sum, one) => sum + one.violations(evidence).length, 0);
    process.stderr.write(asTable(`chaos, seed ${seed}`, { ...figures, violations }));
  });

  afterAll(() => run?.close());

  it.each(INVARIANTS)('keep $id: $says', ({ violations }) => {
    expect(violations(evidence)).toEqual([]);
  });

  it('had trouble, and worked all the same', () => {
    for (const [what, count] of Object.entries(LEAST))
      expect([what, figures[what]! >= count]).toEqual([what, true]);
  });
});
