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

  it('leaves one alone whose lease lasts', async () => {
    await instances.register(database, mine, 'host', 1, 10);
    const living = randomUUID();
    await instances.register(database, living, 'host', 1, 3_600);
    await instances.fenceExpired(database, mine);
    expect(await instances.renew(database, living, 10)).toBe(true);
    expect(await instances.renew(database, other, 10)).toBe(false);
  });

  it('is not done by one whose own lease has run out, as after a pause of the database', async () => {
    await instances.register(database, mine, 'host', 1, -1);
    await instances.fenceExpired(database, mine);
    expect(await instances.renew(database, other, 10)).toBe(true);
  });

  it('leaves what one should do for all to the oldest that lives', async () => {
    await instances.register(database, mine, 'host', 1, 10);
    const youngest = randomUUID();
    await instances.register(database, youngest, 'host', 1, 10);
    await pool.query("UPDATE instances SET started_at = now() - interval '1 s' WHERE id <> $1", [
      youngest,
    ]);
    expect(await instances.isOldest(database, youngest)).toBe(false);
    expect(await instances.isOldest(database, other)).toBe(false);
    expect(await instances.isOldest(database, mine)).toBe(true);
  });
});
