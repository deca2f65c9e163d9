import { describe, expect, it } from '@jest/globals';
import { StatementNames } from './statement-names.js';

describe('names of statements', () => {
  it('are the same for the same text, and different for different ones', () => {
    const names = new StatementNames();
    const first = names.of('SELECT 1');
    expect(names.of('SELECT 2')).not.toBe(first);
    expect(names.of('SELECT 1')).toBe(first);
  });

  it('are given to so many texts and no more', () => {
    const names = new StatementNames(2);
    const known = ['SELECT 1', 'SELECT 2'].map((sql) => names.of(sql));
    expect(names.of('SELECT 3')).toBeUndefined();
    expect(['SELECT 1', 'SELECT 2'].map((sql) => names.of(sql))).toEqual(known);
  });
});
