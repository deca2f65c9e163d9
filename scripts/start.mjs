/**
 * npm start: installs and builds what is missing, then becomes the service: the same process, so
 * that Ctrl-C and SIGTERM reach it directly.
 */
import { prepare } from './prepare.mjs';

const SAME_SIGNAL_MS = 500;

await prepare();
process.setSourceMapsEnabled(true);
if (process.env.npm_lifecycle_event) takeDoubledSignalsForOne();
await import('../dist/src/main.js');

/**
 * A signal to the whole process group (Ctrl-C, a supervisor) comes twice under npm, which passes its
 * own on as well; the service would take the second one for "at once". Node binds `process.emit`
 * when the service begins to listen, so this has to be in place before.
 */
function takeDoubledSignalsForOne() {
  const emit = process.emit;
  const takenAt = new Map();
  process.emit = function (name, ...args) {
    if (name === 'SIGINT' || name === 'SIGTERM') {
      if (performance.now() - takenAt.get(name) < SAME_SIGNAL_MS) return true;
      takenAt.set(name, performance.now());
    }
    return emit.call(this, name, ...args);
  };
}
