import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { mutate, MUTANTS } from './mutant-table.mjs';

const ROOT = new URL('../../', import.meta.url);

/** Noticed here at once, and not only when the mutants are run. */
describe('a mutant', () => {
  it.each(Object.entries(MUTANTS))('has its place in the product: %s', (_, mutant) => {
    const source = readFileSync(new URL(mutant.file, ROOT), 'utf8');
    expect(mutate(mutant, source)).not.toBe(source);
  });

  it.each(Object.entries(MUTANTS))(
    'has a test that catches it and one that does not: %s',
    (_, mutant) => {
      expect(existsSync(new URL(mutant.spec, ROOT))).toBe(true);
      expect(mutant.lives).not.toBe(mutant.caughtBy);
    },
  );

  it('is none where what it breaks is gone, or stands there twice', () => {
    const mutant = { ...Object.values(MUTANTS)[0]!, piece: 'a', becomes: 'b' };
    expect(mutate(mutant, 'xay')).toBe('xby');
    for (const source of ['xyz', 'xaya']) expect(() => mutate(mutant, source)).toThrow('not once');
  });
});
