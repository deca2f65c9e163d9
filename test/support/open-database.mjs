/**
 * Opens the database as the service does, and nothing else:
 * `node open-database.mjs <package folder> <data folder> [system folder]`. Prints one JSON line when it is open and
 * when it cannot be opened; ends at SIGTERM in the orderly way.
 */
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [packageDir, dataDir, systemDir] = process.argv.slice(2);
const source = (file) => import(pathToFileURL(path.join(packageDir, 'dist/src', file)).href);
const { Logger } = await source('common/logger.js');
const { EmbeddedPostgres } = await source('database/embedded/embedded-postgres.js');
const { migrate } = await source('database/migrate.js');
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

try {
  const startedAt = performance.now();
  const logger = Logger.create('warn');
  const onLost = () => process.exit(3);
  const server = await EmbeddedPostgres.start({ dataDir, systemDir, logger, onLost });
  process.once('SIGTERM', () => void server.stop());
  await migrate(server.url);
  say({ url: server.url, ms: Math.round(performance.now() - startedAt) });
} catch (error) {
  say({ error: error.message });
  process.exitCode = 1;
}
