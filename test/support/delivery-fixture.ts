import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { DEFAULT_SETTINGS } from '../../src/settings/settings-tree.js';
import { DeliveryService } from './delivery-service.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

interface DeliveryFixture {
  database: TestDatabase;
  service: DeliveryService;
  /** Another one on the same database. */
  replica: DeliveryService;
  /** The id of a session that no other test knows. */
  session: string;
}

/** Two replicas with the default settings for all tests of a file, given to `take` before each of them. */
export function useDeliveryServices(take: (fixture: DeliveryFixture) => unknown): void {
  let database: TestDatabase;
  let service: DeliveryService;
  let replica: DeliveryService;
  let sessions = 0;

  beforeAll(async () => {
    database = await createTestDatabase();
    service = await DeliveryService.start(database.url);
    replica = await DeliveryService.start(database.url);
  });

  beforeEach(async () => {
    await service.set(DEFAULT_SETTINGS);
    await replica.set(DEFAULT_SETTINGS);
    take({ database, service, replica, session: `session-${++sessions}` });
  });

  afterAll(async () => {
    await Promise.all([service?.close(), replica?.close()]);
    await database.drop();
  });
}
