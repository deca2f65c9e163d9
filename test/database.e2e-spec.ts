import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '../src/common/logger.js';
import { Database } from '../src/database/database.js';
import { createPool } from '../src/database/pool.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

describe('Database', () => {
  let testDatabase: TestDatabase;
  let pool: ReturnType<typeof createPool>;
  let database: Database;

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    pool = createPool(testDatabase.url, Logger.create('silent'));
    database = new Database(pool);
  });

  afterAll(async () => {
    await pool.end();
    await testDatabase.drop();
  });

  it('finds the migrated schema in the clone', async () => {
    expect(await database.query('SELECT count(*) AS n FROM apps')).toEqual([{ n: 0 }]);
  });
});
