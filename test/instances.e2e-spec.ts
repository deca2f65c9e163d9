import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import { Database } from '../src/database/database.js';
import { InstanceRepository } from '../src/instances/instance.repository.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

describe('fencing of instances', () => {
  let testDatabase: TestDatabase;
  let pool: Pool;
  let database: Database;
  const instances = new InstanceRepository();
  const [mine, other] = [randomUUID(), randomUUID()];

  beforeAll(async () => {
    testDatabase = await createTestDatabase();
    pool = new Pool({ connectionString: testDatabase.url });
    database = new Database(pool);
  });

  afterAll(async () => {
    await pool.end();
    await testDatabase.drop();
  });

  beforeEach(async () => {
    await pool.query('DELETE FROM instances');
    await instances.register(database, other, 'host', 1, -1);
  });

  it('takes away the rights of one whose lease has run out', async () => {
    await instances.register(database, mine, 'host', 1, 10);
    await instances.fenceExpired(database, mine);
    expect(await instances.renew(database, other, 10)).toBe(false);
    expect(await instances.renew(database, mine, 10)).toBe(true);
  });

  it('is not done by one whose own lease has run out, as after a pause of the database', async () => {
    await instances.register(database, mine, 'host', 1, -1);
    await instances.fenceExpired(database, mine);
    expect(await instances.renew(database, other, 10)).toBe(true);
  });
});
