/** What runs of tests have in common: a PostgreSQL, a folder for all that is written, and jest, ended whole. */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { bin, prepare, ROOT, say } from './prepare.mjs';

const KILL_AFTER_MS = 5_000;
/** The process groups that run at the moment. */
const groups = new Set();
let interruptedBy;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    interruptedBy ??= signal;
    for (const group of groups) endGroup(group);
  });

/** Whether a signal has asked for the end of the run. */
export function isInterrupted() {
  return interruptedBy !== undefined;
}

/** Gives `work` a server and a folder, which are gone after it. Undefined: interrupted before it began. */
export async function onTestServer(work) {
  await prepare();
  const { makeRunFolder, startTestServer } = await import('./test-server.mjs');
  const folder = makeRunFolder();
  try {
    const at = path.join(folder, 'server');
    const { url, template, stop } = await startTestServer(process.env.TEST_DATABASE_URL, at);
    try {
      return interruptedBy ? undefined : await work({ url, template, folder });
    } finally {
      await stop();
    }
  } finally {
    // Servers that tests had started may still be stopping.
    fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }
}

/**
 * Runs jest in a process group of its own, so that whatever a test started can be ended with it. The report
 * is undefined when jest came to none; `isLate`: it was ended because `limitMs` was over.
 */
export async function runJest({ url, template, folder }, args, options = {}) {
  const { environmentOf } = await import('./test-server.mjs');
  const { env = {}, output = 2, limitMs, name = 'report' } = options;
  const report = path.join(folder, `${name}.json`);
  const jest = spawn(
    process.execPath,
    [
      ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
      bin('jest/bin/jest.js'),
      ...['--json', `--outputFile=${report}`, ...args],
    ],
    {
      cwd: ROOT,
      detached: true,
      stdio: ['ignore', output, output],
      env: { ...process.env, ...environmentOf({ url, template, folder }), ...env },
    },
  );
  let isLate = false;
  const end = () => {
    isLate = true;
    endGroup(jest.pid);
  };
  const limit = limitMs && setTimeout(end, limitMs);
  groups.add(jest.pid);
  const code = await new Promise((resolve, reject) => {
    jest.once('error', reject);
    jest.once('exit', (status) => resolve(status ?? 1));
  });
  clearTimeout(limit);
  groups.delete(jest.pid);
  const hasLeft = signalGroup(jest.pid, 'SIGKILL');
  if (hasLeft && !isLate && !interruptedBy) say('Ended processes that tests left.');
  return { code, isLate, report: readReport(report) };
}

function readReport(file) {
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : undefined;
}

function endGroup(pid) {
  signalGroup(pid, 'SIGTERM');
  setTimeout(() => signalGroup(pid, 'SIGKILL'), KILL_AFTER_MS).unref();
}

/** Answers whether there was a process to tell. */
function signalGroup(pid, signal) {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}
