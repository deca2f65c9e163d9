/**
 * npm run test:mutants [-- part of a name…]: breaks the product in ways that the tests must notice, and says
 * which test did. First these tests must pass on the product as it is. The last line counts the mutants.
 */
import { MUTANTS } from '../test/mutants/mutant-table.mjs';
import { mutantTypes } from './mutant-types.mjs';
import { isInterrupted, onTestServer, runJest } from './test-run.mjs';

const AT_ONCE = 2;
const LIMIT_MS = 120_000;
const LIMIT_OF_CONTROL_MS = 480_000;

const parts = process.argv.slice(2);
const chosen = Object.keys(MUTANTS).filter(
  (name) => parts.length === 0 || parts.some((part) => name.includes(part)),
);
if (chosen.length === 0) {
  process.stderr.write(`No such mutant: ${parts.join(', ')}\n`);
  process.exit(1);
}
const caught = (await onTestServer(run)) ?? 0;
const failed = chosen.length - caught;
process.stdout.write(`\n${caught}/${chosen.length} mutants caught\n`);
if (isInterrupted()) process.exitCode = 130;
else if (failed > 0 || caught === 0) process.exitCode = 1;
process.stdout.write(`${caught} passed, ${Math.max(failed, caught === 0 ? 1 : 0)} failed\n`);

/** Answers how many were caught. */
async function run(server) {
  const complaint = await controlComplaint(server);
  if (isInterrupted()) return 0;
  if (complaint) {
    process.stdout.write(
      `The product as it is does not pass, so nothing is proved:\n${complaint}\n`,
    );
    return 0;
  }
  const complaintOf = mutantTypes();
  let count = 0;
  const waiting = [...chosen];
  const lane = async () => {
    for (let name = waiting.shift(); name && !isInterrupted(); name = waiting.shift()) {
      const begun = performance.now();
      const { isCaught, verdict } = await judge(server, name, complaintOf(MUTANTS[name]));
      if (isInterrupted()) return;
      const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
      if (isCaught) count += 1;
      process.stdout.write(`${name}: ${verdict} (${seconds} s)\n`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return count;
}

async function controlComplaint(server) {
  const mutants = chosen.map((name) => MUTANTS[name]);
  const specs = [...new Set(mutants.map(({ spec }) => spec))];
  const names = [...new Set(mutants.flatMap(({ caughtBy, lives }) => [caughtBy, lives]))];
  const done = await runJest(server, [...specs, ...only(names)], {
    name: 'control',
    limitMs: LIMIT_OF_CONTROL_MS,
  });
  if (done.isLate) return `not within ${LIMIT_OF_CONTROL_MS / 1_000} s`;
  const outcomes = outcomesOf(done.report);
  const notPassed = names.filter((name) => outcomes.get(name) !== 'passed');
  return notPassed.map((name) => `${outcomes.get(name) ?? 'not found'}: ${name}`).join('\n');
}

async function judge(server, name, complaint) {
  if (complaint) return no(`BROKEN: does not compile\n${complaint}`);
  const { spec, caughtBy, lives } = MUTANTS[name];
  const config = ['--config', 'jest.mutants.config.mjs'];
  const done = await runJest(server, [...config, spec, ...only([caughtBy, lives])], {
    name,
    env: { MUTANT: name },
    limitMs: LIMIT_MS,
    output: 'ignore',
  });
  if (done.isLate) return no(`NOT CAUGHT within ${LIMIT_MS / 1_000} s`);
  const outcomes = outcomesOf(done.report);
  if (!outcomes.has(caughtBy)) return no(`BROKEN: nothing ran\n${messagesOf(done.report)}`);
  if (outcomes.get(lives) !== 'passed')
    return no(`BROKEN: not even this passes: ${lives}\n${messagesOf(done.report)}`);
  if (outcomes.get(caughtBy) !== 'failed') return no(`NOT CAUGHT by ${spec}, "${caughtBy}"`);
  return { isCaught: true, verdict: `caught by ${spec}, "${caughtBy}"` };
}

function no(verdict) {
  return { isCaught: false, verdict };
}

/** Jest's arguments for tests of exactly these names. */
function only(names) {
  const patterns = names.map((name) => name.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return ['--testNamePattern', `^(${patterns.join('|')})$`];
}

/** By the full names of the tests: `passed`, `failed`. */
function outcomesOf(report) {
  const tests = (report?.testResults ?? []).flatMap(({ assertionResults }) => assertionResults);
  const ran = tests.filter(({ status }) => status === 'passed' || status === 'failed');
  return new Map(ran.map(({ fullName, status }) => [fullName, status]));
}

function messagesOf(report) {
  const messages = (report?.testResults ?? []).map(({ message }) => message);
  return messages.join('\n').trim() || 'jest has written no report';
}
