/**
 * npm run bench [-- [--cpu-prof] figure…]: measures the figures that are named, or all. Run through
 * scripts/bench.mjs. Profiles of the services go to `data/profiles`.
 */
import type { Figure } from './figure.js';
import { alwaysAck } from './figures/always-ack.js';
import { atOnce } from './figures/at-once.js';
import { endToReceived } from './figures/end-to-received.js';
import { foregroundCall } from './figures/foreground-call.js';
import { killToTold } from './figures/kill-to-told.js';
import { statements } from './figures/statements.js';
import { throughput } from './figures/throughput.js';
import { Ground } from './ground.js';

const FIGURES: Figure[] = [
  foregroundCall,
  alwaysAck,
  throughput,
  statements,
  endToReceived,
  killToTold,
  atOnce,
];

const PROFILE = '--cpu-prof';
/** Not in the repository. */
const PROFILE_DIR = 'data/profiles';

const given = process.argv.slice(2);
const names = given.filter((one) => one !== PROFILE);
const profileDir = given.includes(PROFILE) ? PROFILE_DIR : undefined;
const unknown = names.filter((name) => !FIGURES.some((figure) => figure.name === name));
if (unknown.length > 0) explain();
else
  for (const figure of FIGURES)
    if (names.length === 0 || names.includes(figure.name)) await show(figure);

function explain(): void {
  process.stderr.write(`No such figure: ${unknown.join(', ')}. There are:\n`);
  for (const { name, about } of FIGURES) process.stderr.write(`  ${name.padEnd(18)}${about}\n`);
  process.exitCode = 1;
}

async function show({ name, about, measure }: Figure): Promise<void> {
  process.stdout.write(`\n${name}: ${about}\n`);
  const ground = await Ground.prepare(profileDir);
  try {
    for (const { what, value, goal } of await measure(ground))
      process.stdout.write(`  ${what.padEnd(36)} ${value}${goal ? `  (goal: ${goal})` : ''}\n`);
  } catch (error) {
    process.stdout.write(`  FAILED: ${(error as Error).stack}\n`);
    process.exitCode = 1;
  } finally {
    await ground.clear();
  }
}
