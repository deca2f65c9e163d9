import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const ROOT = new URL('../../', import.meta.url);
const EVENT = /^[a-z_]+\.[a-z_]+$/;

/** The events that the code logs at the level of errors, also where the level is chosen at run time. */
function errorEvents(): string[] {
  const files = readdirSync(new URL('src', ROOT), { recursive: true, encoding: 'utf8' });
  const sources = files
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .map((file) => readFileSync(new URL(`src/${file}`, ROOT), 'utf8'));
  const calls = /logger(?:\.error|\[level\])\(\s*'([^']+)'/g;
  const found = sources.flatMap((source) => [...source.matchAll(calls)].map(([, event]) => event));
  return [...new Set(found)].filter((event): event is string => event !== undefined).sort();
}

describe('docs/operations.md', () => {
  it('says what each error in the log means, and names no other', () => {
    const document = readFileSync(new URL('docs/operations.md', ROOT), 'utf8');
    const rows = [...document.matchAll(/^\| `([^`]+)`/gm)].map(([, event]) => event ?? '');
    expect(rows.filter((event) => EVENT.test(event)).sort()).toEqual(errorEvents());
  });
});
