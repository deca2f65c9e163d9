/** npm run check [-- --without-tests]: everything that CI looks at. The last line counts what held and what did not. */
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { bin, filesOf, prepare, ROOT, say } from './prepare.mjs';

const LONGEST_FILE = 300;
const LONGEST_MEDIAN = 80;
const EXPORTED =
  /^export (?:abstract )?(?:async )?(?:function\*?|class|const|interface|type) (\w+)/gm;

await prepare();
const checks = [
  ['format', () => runBin('prettier/bin/prettier.cjs', '--check', '--log-level=warn', '.')],
  ['lint', () => runBin('eslint/bin/eslint.js', '.')],
  ['types', () => runBin('typescript/bin/tsc', '--noEmit')],
  ['import rules', () => runBin('dependency-cruiser/bin/dependency-cruise.mjs', 'src')],
  ['OpenAPI document', () => runNode('dist/src/openapi.js', '--check')],
  ['file sizes', checkSizes],
  ['exports', checkExports],
  ['lock file', checkLockFile],
];
if (!process.argv.includes('--without-tests')) checks.push(['tests', runTests]);

const failed = checks.filter(([name, check]) => {
  const complaint = check();
  say(complaint ? `FAILED  ${name}\n${complaint}` : `ok      ${name}`);
  return complaint;
});
process.exitCode = failed.length > 0 ? 1 : 0;
process.stdout.write(`${checks.length - failed.length} passed, ${failed.length} failed\n`);

function runBin(file, ...args) {
  return runNode(bin(file), ...args);
}

/** Answers what the program says when it fails; undefined when all is well. */
function runNode(...args) {
  const done = spawnSync(process.execPath, args, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (done.status === 0) return undefined;
  return `${done.stdout}${done.stderr}`.trim() || `exit code ${done.status}`;
}

/** Shows them as they go: they take longer than all the rest. */
function runTests() {
  const stdio = ['ignore', 'ignore', 'inherit'];
  const { status } = spawnSync(process.execPath, ['scripts/test.mjs'], { cwd: ROOT, stdio });
  return status === 0 ? undefined : 'see above';
}

/** Long files are cut along the flow; specifications are not counted. */
function checkSizes() {
  const sizes = filesOf(path.join(ROOT, 'src'))
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .map((file) => ({
      file: path.relative(ROOT, file),
      lines: fs.readFileSync(file, 'utf8').split('\n').length - 1,
    }))
    .sort((a, b) => b.lines - a.lines);
  const complaints = sizes
    .filter(({ lines }) => lines > LONGEST_FILE)
    .map(({ file, lines }) => `${file}: ${lines} lines, at most ${LONGEST_FILE}`);
  const median = sizes[Math.floor(sizes.length / 2)]?.lines ?? 0;
  if (median > LONGEST_MEDIAN) complaints.push(`median ${median} lines, at most ${LONGEST_MEDIAN}`);
  return complaints.join('\n') || undefined;
}

/** What only its own file knows is nobody else's to use; the names alone are compared. */
function checkExports() {
  const sources = ['src', 'test', 'bench']
    .flatMap((folder) => filesOf(path.join(ROOT, folder)))
    .filter((file) => /(?<!\.d)\.m?[jt]s$/.test(file))
    .map((file) => ({ file, text: fs.readFileSync(file, 'utf8') }));
  const knownBy = new Map();
  for (const { text } of sources)
    for (const word of new Set(text.match(/\w+/g))) knownBy.set(word, (knownBy.get(word) ?? 0) + 1);
  const lonely = sources.flatMap(({ file, text }) =>
    [...text.matchAll(EXPORTED)]
      .filter(([, name]) => knownBy.get(name) === 1)
      .map(([, name]) => `${path.relative(ROOT, file)}: nobody imports ${name}`),
  );
  return lonely.join('\n') || undefined;
}

/** An address in it would tie every installation to one registry. */
function checkLockFile() {
  const { packages } = JSON.parse(fs.readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8'));
  const tied = Object.keys(packages).filter((name) =>
    /^https?:/.test(packages[name].resolved ?? ''),
  );
  return tied.length > 0 ? `addresses in package-lock.json: ${tied.join(', ')}` : undefined;
}
