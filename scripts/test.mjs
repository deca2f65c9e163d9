/**
 * npm test [-- jest arguments]: runs all tests on a PostgreSQL of their own, or on the server of
 * TEST_DATABASE_URL (its role must be allowed to create databases). The last line counts them.
 */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { bin, prepare, ROOT, say } from './prepare.mjs';

const KILL_AFTER_MS = 5_000;
let interruptedBy;
let jest;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    interruptedBy ??= signal;
    if (jest) endGroup(jest.pid);
  });

await prepare();
const { makeRunFolder, startTestServer } = await import('./test-server.mjs');
/** Everything that a run writes is in it: the server, the report, the temporary files of the tests. */
const folder = makeRunFolder();
const report = path.join(folder, 'report.json');
try {
  const server = await startTestServer(process.env.TEST_DATABASE_URL, path.join(folder, 'server'));
  let code = 1;
  try {
    if (!interruptedBy) code = await runJest(server);
  } finally {
    await server.stop();
  }
  process.exitCode = interruptedBy ? 130 : code;
  printCount();
} finally {
  // Servers that tests had started may still be stopping.
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/** In a process group of its own, so that whatever a test started can be ended with it. */
async function runJest({ url, template }) {
  jest = spawn(
    process.execPath,
    [
      ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
      bin('jest/bin/jest.js'),
      ...['--json', `--outputFile=${report}`, ...process.argv.slice(2)],
    ],
    {
      cwd: ROOT,
      detached: true,
      stdio: ['ignore', 2, 2],
      env: {
        ...process.env,
        TMPDIR: path.join(folder, 'tmp'),
        TEST_DATABASE_URL: url,
        TEST_DATABASE_TEMPLATE: template,
      },
    },
  );
  const code = await new Promise((resolve, reject) => {
    jest.once('error', reject);
    jest.once('exit', (status) => resolve(status ?? 1));
  });
  if (signalGroup(jest.pid, 'SIGKILL') && !interruptedBy) say('Ended processes that tests left.');
  return code;
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

/** A test file that cannot be loaded counts as one failed test. */
function printCount() {
  const result = fs.existsSync(report) ? JSON.parse(fs.readFileSync(report, 'utf8')) : undefined;
  const passed = result?.numPassedTests ?? 0;
  const failed = result ? result.numFailedTests + result.numRuntimeErrorTestSuites : 1;
  if (failed > 0) process.exitCode ||= 1;
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
}
