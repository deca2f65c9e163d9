import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, Module, type INestApplicationContext } from '@nestjs/common';
import type { OnApplicationShutdown } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Client } from 'pg';
import { ConfigModule } from '../src/config/config.module.js';
import { readEnvironment } from '../src/config/environment.js';
import { ChannelListener, notifyChannel } from '../src/database/channel-listener.js';
import { DatabaseMode } from '../src/database/database-mode.js';
import { DatabaseModule } from '../src/database/database.module.js';
import { Database } from '../src/database/database.js';
import { eventually } from './support/eventually.js';
import { SECRETS_KEYS } from './support/secrets-keys.js';
import { createEmptyDatabase, type TestDatabase } from './support/test-database.js';

/** Writes at the last moment, as a leaving instance does. */
@Injectable()
class LateWriter implements OnApplicationShutdown {
  constructor(private readonly database: Database) {}

  async onApplicationShutdown(): Promise<void> {
    await this.database.query("INSERT INTO settings (overrides) VALUES ('{}')");
  }
}

@Module({ providers: [LateWriter] })
class LateModule {}

describe('DatabaseModule', () => {
  let testDatabase: TestDatabase;
  let app: INestApplicationContext;

  beforeEach(async () => {
    testDatabase = await createEmptyDatabase();
    const configuration = readEnvironment({
      DATABASE_URL: testDatabase.url,
      BGC_SECRETS_KEYS: SECRETS_KEYS,
      LOG_LEVEL: 'silent',
    });
    const modules = [ConfigModule.forRoot(configuration), DatabaseModule, LateModule];
    app = await Test.createTestingModule({ imports: modules }).compile();
  });

  afterEach(() => testDatabase.drop());

  it('has the schema and the listener when the service is up', async () => {
    const heard: string[] = [];
    app.get(ChannelListener).on('bgc_call_ended', (payload) => heard.push(payload));
    await app.init();
    expect(await app.get(Database).query('SELECT a.id FROM apps a')).toEqual([]);
    expect(app.get(DatabaseMode).isEmbedded).toBe(false);
    await notifyChannel(app.get(Database), 'bgc_call_ended', 'told');
    await eventually('the listener hears', () => heard.includes('told'));
    await app.close();
  });

  it('lets the others write while they leave, then leaves no connection', async () => {
    await app.init();
    await app.close();
    const client = new Client({ connectionString: testDatabase.url });
    await client.connect();
    const { rows } = await client.query('SELECT s.only_row FROM settings s');
    expect(rows).toHaveLength(1);
    const others = `SELECT 1 FROM pg_stat_activity a
      WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_type = 'client backend'`;
    await eventually('no connection is left', async () => {
      return (await client.query(others)).rows.length === 0;
    });
    await client.end();
  });
});
