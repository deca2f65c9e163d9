import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import { Client } from 'pg';

/** `dist/src/database` and `src/database` lie at different depths below the package. */
const MIGRATIONS = fileURLToPath(
  new URL(
    import.meta.url.includes('/dist/src/') ? '../../../migrations' : '../../migrations',
    import.meta.url,
  ),
);
const LOG_NOTHING = (): void => undefined;

/** Brings the schema up to date; replicas that start together wait for one another at an advisory lock. */
export async function migrate(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await runner({
      dbClient: client,
      dir: MIGRATIONS,
      direction: 'up',
      migrationsTable: 'migrations',
      advisoryLockMode: 'wait',
      log: LOG_NOTHING,
    });
  } finally {
    await client.end();
  }
}
