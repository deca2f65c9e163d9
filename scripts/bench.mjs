/** npm run bench [-- figure…]: measures on an embedded PostgreSQL as durable as in production, or on TEST_DATABASE_URL. */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { prepare, run } from './prepare.mjs';

await prepare();
const { environmentOf, makeRunFolder, startTestServer } = await import('./test-server.mjs');
const folder = makeRunFolder();
try {
  const at = path.join(folder, 'server');
  const server = await startTestServer(process.env.TEST_DATABASE_URL, at, {});
  try {
    const program = ['--import', './scripts/typescript.mjs', 'bench/main.ts'];
    process.exitCode = await run(process.execPath, [...program, ...process.argv.slice(2)], {
      stdio: ['ignore', 1, 2],
      env: { ...process.env, ...environmentOf({ ...server, folder }) },
    });
  } finally {
    await server.stop();
  }
} finally {
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}
