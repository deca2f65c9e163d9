/**
 * A process that watches over groups, to be killed: watchdog-owner.mjs <id>… -- <id>…
 * The groups after the dashes it has been told to be gone. Says "ready" when the watchdog knows.
 */
import { ProgramWatchdog } from '../../dist/src/upstreams/sdk/stdio/program-watchdog.js';

const groups = process.argv.slice(2);
const gone = groups.splice(groups.indexOf('--')).slice(1);
const watchdog = new ProgramWatchdog({ warn: (event) => process.stdout.write(`${event}\n`) });

for (const id of [...groups, ...gone]) watchdog.start(() => ({ pid: Number(id) }));
for (const id of gone) watchdog.forget(Number(id));
process.stdout.write('ready\n');
setInterval(() => undefined, 1_000);
