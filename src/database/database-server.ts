import type { Logger } from '../common/logger.js';
import type { Configuration } from '../config/environment.js';
import { DatabaseMode } from './database-mode.js';
import { EmbeddedPostgres } from './embedded/embedded-postgres.js';

/** The PostgreSQL server of this process: that of `DATABASE_URL`, or the embedded one. */
export abstract class DatabaseServer extends DatabaseMode {
  abstract readonly url: string;
  /** Stops an embedded server; another one is not ours to stop. */
  abstract stop(): Promise<void>;
}

/** @throws EmbeddedDatabaseError when there is no `DATABASE_URL` and the embedded server cannot run. */
export async function openDatabaseServer(
  configuration: Configuration,
  logger: Logger,
): Promise<DatabaseServer> {
  const { databaseUrl, dataDir } = configuration;
  if (databaseUrl !== undefined)
    return { isEmbedded: false, url: databaseUrl, stop: () => Promise.resolve() };
  const embedded = await EmbeddedPostgres.start({ dataDir, logger, onLost: leave });
  return { isEmbedded: true, url: embedded.url, stop: () => embedded.stop() };
}

/** Without its database this process cannot finish anything: it leaves in the orderly way, as failed. */
function leave(): void {
  process.exitCode = 1;
  process.kill(process.pid, 'SIGTERM');
}
