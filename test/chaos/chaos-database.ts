import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { addressFor, installHistory } from './history.js';
import { countUnsettled, readRows, type RecordedRows } from './recorded-rows.js';

/** A database of its own that writes down what happens in it. */
export class ChaosDatabase {
  private constructor(
    private readonly database: TestDatabase,
    private readonly control: Client,
  ) {}

  static async create(): Promise<ChaosDatabase> {
    const database = await createTestDatabase();
    const control = new Client({ connectionString: database.url });
    await control.connect();
    await installHistory(control);
    return new ChaosDatabase(database, control);
  }

  /** The address at which a process of this name connects. */
  addressFor(actor: string): string {
    return addressFor(actor, this.database.url);
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
