/** What every script needs first: a Node that is new enough, the packages, and a build of the sources as they are. */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url));
const OLDEST_NODE = [20, 19];
const BUILT_FROM = ['src', 'package-lock.json', 'nest-cli.json', '.swcrc', 'tsconfig.json'];
const STAMP = path.join(ROOT, 'dist', '.built-from');
const LOCK = path.join(ROOT, '.prepare.lock');

/** Installs and builds what is missing or out of date; processes that start together wait for one another. */
export async function prepare() {
  assertNode();
  if (isInstalled() && isBuilt()) return;
  await lock();
  try {
    if (!isInstalled()) await install();
    if (!isBuilt()) await build();
  } finally {
    fs.rmSync(LOCK, { force: true });
  }
}

/** Compiles `src` to `dist/src`. */
export async function build() {
  const from = fingerprint();
  say('Building …');
  await mustRun(process.execPath, [bin('@nestjs/cli/bin/nest.js'), 'build']);
  fs.writeFileSync(STAMP, from);
}

/** The path of a program of an installed package. */
export function bin(file) {
  return path.join(ROOT, 'node_modules', file);
}

/** Runs a program in the package folder and answers its exit code; a SIGTERM is passed on to it. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2], ...options });
    const stop = () => child.kill('SIGTERM');
    process.once('SIGTERM', stop);
    child.once('error', reject);
    child.once('exit', (code) => {
      process.off('SIGTERM', stop);
      resolve(code ?? 1);
    });
  });
}

export function say(line) {
  process.stderr.write(`${line}\n`);
}

function assertNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  say(`Background Calls needs Node ${OLDEST_NODE.join('.')} or newer; this is ${process.version}.`);
  process.exit(1);
}

/** Whether every package that the lock file demands is there in that version. */
function isInstalled() {
  const wanted = readPackages(path.join(ROOT, 'package-lock.json'));
  const there = readPackages(path.join(ROOT, 'node_modules', '.package-lock.json'));
  return Object.entries(wanted).every(
    ([name, { version, optional, devOptional }]) =>
      name === '' || optional || devOptional || there[name]?.version === version,
  );
}

/** npm writes its own copy of the lock file when an installation is complete. */
function readPackages(file) {
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')).packages : {};
}

async function install() {
  if (isLink(path.join(ROOT, 'node_modules'))) {
    // npm ci would empty the folder that the link leads to, which others use too.
    say('node_modules is a link and does not fit the lock file: install where it leads to.');
    process.exit(1);
  }
  say('Installing packages …');
  const npm = process.env.npm_execpath;
  const args = ['ci', '--include=dev', '--loglevel=error'];
  if (npm) await mustRun(process.execPath, [npm, ...args]);
  else await mustRun('npm', args);
}

function isLink(file) {
  return fs.lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

async function mustRun(command, args) {
  const code = await run(command, args);
  if (code !== 0) process.exit(code);
}

function isBuilt() {
  return fs.existsSync(STAMP) && fs.readFileSync(STAMP, 'utf8') === fingerprint();
}

/** Changes when a source is edited, added, removed or checked out in another version. */
function fingerprint() {
  return BUILT_FROM.flatMap((name) => filesOf(path.join(ROOT, name)))
    .sort()
    .map((file) => {
      const { size, mtimeMs } = fs.statSync(file);
      return `${path.relative(ROOT, file)} ${size} ${mtimeMs}\n`;
    })
    .join('');
}

/** The file itself, or every file below the folder. */
export function filesOf(at) {
  if (!fs.statSync(at).isDirectory()) return [at];
  return fs.readdirSync(at).flatMap((name) => filesOf(path.join(at, name)));
}

async function lock() {
  while (!tryToLock()) await sleep(200);
  process.once('exit', () => fs.rmSync(LOCK, { force: true }));
}

function tryToLock() {
  try {
    fs.writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    if (!isAlive(Number(readOr(LOCK, '')))) fs.rmSync(LOCK, { force: true });
    return false;
  }
}

function readOr(file, fallback) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return fallback;
  }
}

function isAlive(pid) {
  if (!pid) return true; // just being written
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
