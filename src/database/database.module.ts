import { Global, Module } from '@nestjs/common';
import { Pool } from 'pg';
import { Logger } from '../common/logger.js';
import { Configuration } from '../config/environment.js';
import { ChannelListener } from './channel-listener.js';
import { DatabaseAnswerRepository } from './database-answer.repository.js';
import { DatabaseLifecycle } from './database-lifecycle.js';
import { DatabaseRetry } from './database-retry.js';
import { DatabaseMode } from './database-mode.js';
import { DatabaseServer, openDatabaseServer } from './database-server.js';
import { Database } from './database.js';
import { migrate } from './migrate.js';
import { createPool } from './pool.js';

/** The database, migrated and ready before any other module starts. */
@Global()
@Module({
  providers: [
    { provide: DatabaseServer, inject: [Configuration, Logger], useFactory: openMigrated },
    { provide: DatabaseMode, useExisting: DatabaseServer },
    {
      provide: Pool,
      inject: [DatabaseServer, Logger],
      useFactory: (server: DatabaseServer, logger: Logger) => createPool(server.url, logger),
    },
    { provide: Database, inject: [Pool], useFactory: (pool: Pool) => new Database(pool) },
    {
      provide: ChannelListener,
      inject: [DatabaseServer, Logger],
      useFactory: (server: DatabaseServer, logger: Logger) =>
        new ChannelListener(server.url, logger),
    },
    DatabaseAnswerRepository,
    DatabaseLifecycle,
    DatabaseRetry,
  ],
  exports: [Database, DatabaseRetry, DatabaseAnswerRepository, ChannelListener, DatabaseMode],
})
export class DatabaseModule {}

async function openMigrated(configuration: Configuration, logger: Logger): Promise<DatabaseServer> {
  const server = await openDatabaseServer(configuration, logger);
  try {
    await migrate(server.url);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}
