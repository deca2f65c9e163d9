import type { Pool, PoolClient, QueryResult } from 'pg';
import { DatabaseUnavailableError } from '../common/domain-error.js';
import { currentRequestContext } from '../common/request-context.js';
import { breaksConnection, isConnectionFailure } from './database-failure.js';
import { StatementNames } from './statement-names.js';

const NAMES = new StatementNames();

/**
 * A connection of the pool while it is in use. It knows whether it broke, and then goes out of the
 * pool; a refused statement, such as a duplicate key, leaves it usable.
 */
export class PooledConnection {
  private broken: Error | undefined;
  private isGivenBack = false;
  /** While a connection is out the pool does not listen: one that breaks between two statements would end the process. */
  private readonly onError = (error: Error): void => {
    this.broken ??= error;
  };

  private constructor(private readonly client: PoolClient) {
    client.on('error', this.onError);
  }

  /** @throws DatabaseUnavailableError when there is none in time. */
  static async take(pool: Pool): Promise<PooledConnection> {
    try {
      return new PooledConnection(await pool.connect());
    } catch (error) {
      throw new DatabaseUnavailableError(error);
    }
  }

  async rows<R extends object>(sql: string, values: readonly unknown[]): Promise<R[]> {
    return (await this.run<R>(sql, values)).rows;
  }

  /** @throws DatabaseUnavailableError when the database does not answer. */
  async run<R extends object>(
    sql: string,
    values: readonly unknown[] = [],
  ): Promise<QueryResult<R>> {
    if (this.isGivenBack) throw new Error('The transaction of this statement has already ended.');
    const context = currentRequestContext();
    if (context) context.statements += 1;
    try {
      // Without values it is one of BEGIN and COMMIT, or as good: there is nothing to plan.
      const name = values.length > 0 ? NAMES.of(sql) : undefined;
      const text = { text: sql, values: values as unknown[], ...(name && { name }) };
      return await this.client.query<R>(text);
    } catch (error) {
      if (breaksConnection(error)) this.broken ??= error as Error;
      throw isConnectionFailure(error) ? new DatabaseUnavailableError(error) : error;
    }
  }

  /** A broken connection is not asked: the server rolls back when it ends. */
  async rollBack(): Promise<void> {
    if (this.broken) return;
    await this.client.query('ROLLBACK').catch(this.onError);
  }

  giveBack(): void {
    this.isGivenBack = true;
    this.client.release(this.broken);
    this.client.off('error', this.onError);
  }
}
