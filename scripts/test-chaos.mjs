/**
 * npm run test:chaos [-- --minutes N] [--seed N] [--points PATTERN] [jest arguments]: kills, pauses and cuts
 * off processes of the service and looks whether anything is lost. The last line counts the checks.
 */
import { ROOT } from './prepare.mjs';

const OPTIONS = {
  '--minutes': 'CHAOS_MINUTES',
  '--seed': 'CHAOS_SEED',
  '--points': 'CHAOS_POINTS',
};
const rest = [];
const given = process.argv.slice(2);
while (given.length > 0) {
  const argument = given.shift();
  const variable = OPTIONS[argument];
  if (variable) process.env[variable] = given.shift();
  else rest.push(argument);
}
process.argv.splice(2, Infinity, '--config', `${ROOT}/jest.chaos.config.mjs`, ...rest);
await import('./test.mjs');
