import { Pool } from 'pg';
import { hashKey } from '../../src/auth/api-key.js';
import { toPublicId } from '../../src/common/ids.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { addressFor, installHistory } from './history.js';
import { countUnsettled, readRows, type RecordedRows } from './recorded-rows.js';

/** The key of the app whose messages are sent by webhook. */
export const HOOKS_KEY = 'agent-key-of-the-app-hooks-01';
const HOOKS_APP = '018f0000-0000-7000-8000-0000000000aa';
const ADD_APP = `
  INSERT INTO apps (id, name) VALUES ($1, 'hooks')`;
const ADD_KEY = `
  INSERT INTO api_keys (id, app_id, audience, origin, prefix, hash)
  VALUES (gen_random_uuid(), $1, 'agent', 'generated', 'hooks', $2)`;

/** A database of its own that writes down what happens in it. */
export class ChaosDatabase {
  private constructor(
    private readonly database: TestDatabase,
    private readonly control: Pool,
  ) {}

  /** Of the server that all tests share, unless another one is given. */
  static async create(given?: TestDatabase): Promise<ChaosDatabase> {
    const database = given ?? (await createTestDatabase());
    const control = new Pool({ connectionString: database.url, max: 1 });
    // An idle connection breaks when the server stops; the next statement opens another one.
    control.on('error', () => undefined);
    await control.query(ADD_APP, [HOOKS_APP]);
    await control.query(ADD_KEY, [HOOKS_APP, hashKey(HOOKS_KEY)]);
    await installHistory(control);
    return new ChaosDatabase(database, control);
  }

  get hooksAppPath(): string {
    return `/admin/v1/apps/${toPublicId('app', HOOKS_APP)}`;
  }

  get url(): string {
    return this.database.url;
  }

  /** The address at which a process of this name connects, perhaps by way of a proxy. */
  addressFor(actor: string, url = this.database.url): string {
    return addressFor(actor, url);
  }

  readRows(): Promise<RecordedRows> {
    return readRows(this.control);
  }

  countUnsettled(): Promise<{ calls: number; notifications: number }> {
    return countUnsettled(this.control);
  }

  async query<R extends object>(sql: string): Promise<R[]> {
    return (await this.control.query<R>(sql)).rows;
  }

  async drop(): Promise<void> {
    await this.control.end();
    await this.database.drop();
  }
}
