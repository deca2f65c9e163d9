import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { CALL_STATUSES, TRANSITIONS } from '../../src/background-calls/call-status.js';

interface ImportRule {
  name: string;
  to: { pathNot?: string };
}

const ROOT = new URL('../../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8');
const DOCUMENT = read('docs/architecture.md');
const FIRST = ['queued', 'running'];
const BASE = ['common', 'config', 'database', 'auth'];

/** The cells of the table of folders, for a folder alone in its line. */
function folderRows(): Map<string, string[]> {
  const rows = DOCUMENT.split('\n').filter((line) => /^\| [2-9] /.test(line));
  const cells = rows.map((line) => line.split('|').map((cell) => cell.trim()));
  return new Map(
    cells.map(([, , folder = '', , imports = '']) => [
      folder.replaceAll('`', ''),
      imports.split(', '),
    ]),
  );
}

/** What dependency-cruiser lets a folder import, beside itself and the base levels. */
function ruleRows(): Map<string, string[]> {
  const require = createRequire(import.meta.url);
  const { forbidden } = require('../../.dependency-cruiser.cjs') as { forbidden: ImportRule[] };
  const rules = forbidden.filter(({ name }) => name.endsWith('-imports-only-its-table-row'));
  const folders = rules.map(({ to }) => /\((.*)\)/.exec(to.pathNot ?? '')?.[1]?.split('|') ?? []);
  return new Map(
    folders.map(([folder = '', ...allowed]) => [
      folder,
      allowed.filter((name) => !BASE.includes(name)),
    ]),
  );
}

describe('docs/architecture.md', () => {
  it('draws exactly the moves of the state table', () => {
    const drawn = [...DOCUMENT.matchAll(/^ {2}(\S+) --> (\S+)$/gm)].map(
      ([, from, to]) => `${from} ${to}`,
    );
    const moves = CALL_STATUSES.flatMap((from) => TRANSITIONS[from].map((to) => `${from} ${to}`));
    expect(drawn.sort()).toEqual([...FIRST.map((to) => `[*] ${to}`), ...moves].sort());
  });

  it('lists the folders with the imports that are allowed', () => {
    const documented = folderRows();
    for (const [folder, allowed] of ruleRows()) {
      if (BASE.includes(folder)) continue;
      expect([folder, documented.get(folder)]).toEqual([
        folder,
        allowed.length > 0 ? allowed : ['base'],
      ]);
    }
  });

  it('leaves out no folder', () => {
    const folders = readdirSync(new URL('src', ROOT), { withFileTypes: true });
    for (const { name } of folders.filter((entry) => entry.isDirectory()))
      expect([name, DOCUMENT.includes(`\`${name}\``)]).toEqual([name, true]);
  });
});

describe('the documents', () => {
  const DOCUMENTS = [
    'README.md',
    'docs/architecture.md',
    ...readdirSync(new URL('docs/adr', ROOT)).map((name) => `docs/adr/${name}`),
  ];

  it.each(DOCUMENTS)('%s names only files that exist', (document) => {
    const named = [...read(document).matchAll(/`([\w./-]+\/[\w.-]+\.(?:ts|cjs|mjs|yaml))`/g)].map(
      ([, file = '']) => file,
    );
    const missing = named.filter(
      (file) => !['', 'src/'].some((base) => existsSync(fileURLToPath(new URL(base + file, ROOT)))),
    );
    expect(missing).toEqual([]);
  });

  it('number the decisions one by one, in their names and in their titles', () => {
    const decisions = readdirSync(new URL('docs/adr', ROOT)).sort();
    expect(decisions.map((name) => Number(name.slice(0, 4)))).toEqual(
      decisions.map((_, index) => index + 1),
    );
    for (const [index, name] of decisions.entries())
      expect(read(`docs/adr/${name}`)).toMatch(new RegExp(`^# ${index + 1}\\. `));
  });
});
