import { Client } from 'pg';
import { eventually } from './eventually.js';

const WAITING = `
  SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

/** Holds the row lock of a session from outside, so that a test decides in which order others get it. */
export class HeldTarget {
  private waiting = 0;

  private constructor(private readonly client: Client) {}

  static async hold(databaseUrl: string, sessionId: string): Promise<HeldTarget> {
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query('BEGIN');
    const found = await client.query(
      'SELECT FROM targets WHERE targets.session_id = $1 FOR UPDATE',
      [sessionId],
    );
    if (found.rowCount !== 1) throw new Error(`There is no session ${sessionId}.`);
    return new HeldTarget(client);
  }

  /** Begins `work`, which has to wait for the lock; resolves to what it will answer once it waits. */
  async queue<T>(work: () => Promise<T>): Promise<{ answer: Promise<T> }> {
    const answer = work();
    answer.catch(() => undefined);
    this.waiting += 1;
    await eventually(`${this.waiting} wait for the lock`, async () => {
      return ((await this.client.query(WAITING)).rowCount ?? 0) >= this.waiting;
    });
    return { answer };
  }

  /** In the transaction that holds the lock: others see it after the release. */
  async write(sql: string, values: unknown[]): Promise<void> {
    const { rowCount } = await this.client.query(sql, values);
    if (rowCount !== 1) throw new Error(`${rowCount} rows were written: ${sql}`);
  }

  /** Lets those who wait go on, one after another. */
  async release(): Promise<void> {
    await this.client.query('COMMIT');
    await this.client.end();
  }
}
