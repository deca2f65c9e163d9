/**
 * npm start: installs and builds what is missing, then becomes the service: the same process, so
 * that Ctrl-C and SIGTERM reach it directly.
 */
import { prepare } from './prepare.mjs';

await prepare();
process.setSourceMapsEnabled(true);
await import('../dist/src/main.js');
