import { Client } from 'pg';
import type { Transaction } from '../../src/database/database.js';

/** Explains statements instead of running them, on a database where reading a whole table is the last resort. */
export class QueryPlans {
  private constructor(readonly client: Client) {}

  static async open(databaseUrl: string): Promise<QueryPlans> {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query('SET enable_seqscan = off');
    return new QueryPlans(client);
  }

  /** The plans of all statements that `work` gives to its transaction, which answers `rows` to each. */
  async of(work: (tx: Transaction) => Promise<unknown>, rows: object[] = []): Promise<string> {
    const plans: string[] = [];
    await work({
      inTransaction: true,
      query: async <R extends object>(sql: string, values: readonly unknown[] = []) => {
        const explained = await this.client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${sql}`, [
          ...values,
        ]);
        plans.push(explained.rows.map((row) => row['QUERY PLAN']).join('\n'));
        return rows as R[];
      },
    });
    if (plans.length === 0) throw new Error('no statement was given');
    return plans.join('\n\n');
  }

  async close(): Promise<void> {
    await this.client.end();
  }
}
