/**
 * npm test [-- jest arguments]: runs all tests on a PostgreSQL of their own, or on the server of
 * TEST_DATABASE_URL (its role must be allowed to create databases). The last line counts them.
 */
import { isInterrupted, onTestServer, runJest } from './test-run.mjs';

const done = await onTestServer((server) => runJest(server, process.argv.slice(2)));
process.exitCode = isInterrupted() ? 130 : done.code;
printCount(done?.report);

/** A test file that cannot be loaded counts as one failed test. */
function printCount(report) {
  const passed = report?.numPassedTests ?? 0;
  const failed = report ? report.numFailedTests + report.numRuntimeErrorTestSuites : 1;
  if (failed > 0) process.exitCode ||= 1;
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
}
