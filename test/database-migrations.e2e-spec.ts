import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { Logger } from '../src/common/logger.js';
import { Database } from '../src/database/database.js';
import { migrate } from '../src/database/migrate.js';
import { createPool } from '../src/database/pool.js';
import { createEmptyDatabase, type TestDatabase } from './support/test-database.js';

describe('migrate', () => {
  let testDatabase: TestDatabase;
  let pool: Pool;
  let database: Database;

  beforeAll(async () => {
    testDatabase = await createEmptyDatabase();
    pool = createPool(testDatabase.url, Logger.create('silent'));
    database = new Database(pool);
  });

  afterAll(async () => {
    await pool.end();
    await testDatabase.drop();
  });

  it('runs each migration once when several replicas start together', async () => {
    await Promise.all([1, 2, 3, 4].map(() => migrate(testDatabase.url)));
    const rows = await database.query('SELECT m.name, count(*) AS n FROM migrations m GROUP BY 1');
    expect(rows).toContainEqual({ name: '0001_main-job', n: 1 });
    expect(rows.every(({ n }) => n === 1)).toBe(true);
  });

  it('names every constraint and index, so that an error can be recognised by it', async () => {
    const unnamed = await database.query(
      `SELECT c.conname FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
       WHERE c.connamespace = 'public'::regnamespace AND t.relname <> 'migrations' AND c.contype <> 'n'
         AND c.conname ~ '_(pkey|key\\d*|fkey\\d*|check\\d*)$'`,
    );
    expect(unnamed).toEqual([]);
  });
});
