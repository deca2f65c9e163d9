import { Pool, type PoolClient } from 'pg';
import { DatabaseUnavailableError } from '../common/domain-error.js';
import { currentRequestContext } from '../common/request-context.js';
import { isConnectionFailure, isWorthRetrying } from './database-failure.js';

export type Row = Record<string, unknown>;

/** Runs statements; the one way to the database. Repositories take it as `db` or, inside a transaction, as `tx`. */
export interface Queryable {
  /** @throws DatabaseUnavailableError when the database does not answer. */
  query<R extends object = Row>(sql: string, values?: readonly unknown[]): Promise<R[]>;
}

/** A Queryable whose statements belong to one open transaction. */
export interface Transaction extends Queryable {
  readonly inTransaction: true;
}

/** The connection broke during COMMIT: the transaction may have happened or not. */
export class CommitOutcomeUnknownError extends DatabaseUnavailableError {}

const SERIALIZATION_TRIES = 3;

export class Database implements Queryable {
  constructor(private readonly pool: Pool) {}

  async query<R extends object = Row>(sql: string, values: readonly unknown[] = []): Promise<R[]> {
    return run<R>(this.pool, sql, values);
  }

  /**
   * Runs `work` in one transaction; deadlocks and serialization failures run it again.
   * @throws CommitOutcomeUnknownError when the connection broke while committing.
   * @throws DatabaseUnavailableError when the database does not answer before that.
   */
  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.once(work);
      } catch (error) {
        if (!isWorthRetrying(error) || attempt === SERIALIZATION_TRIES) throw error;
      }
    }
  }

  private async once<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const client = await this.connect();
    let broken: Error | undefined;
    try {
      await run(client, 'BEGIN', []);
      const tx: Transaction = {
        inTransaction: true,
        query: (sql, values = []) => run(client, sql, values),
      };
      const result = await work(tx);
      await this.commit(client);
      return result;
    } catch (error) {
      broken = await rollBack(client);
      throw error;
    } finally {
      client.release(broken);
    }
  }

  private async commit(client: PoolClient): Promise<void> {
    try {
      await run(client, 'COMMIT', []);
    } catch (error) {
      if (error instanceof DatabaseUnavailableError)
        throw new CommitOutcomeUnknownError(error.cause);
      throw error;
    }
  }

  private async connect(): Promise<PoolClient> {
    try {
      return await this.pool.connect();
    } catch (error) {
      throw new DatabaseUnavailableError(error);
    }
  }
}

async function run<R extends object>(
  target: Pool | PoolClient,
  sql: string,
  values: readonly unknown[],
): Promise<R[]> {
  const context = currentRequestContext();
  if (context) context.statements += 1;
  try {
    const result = await target.query<R>(sql, values as unknown[]);
    return result.rows;
  } catch (error) {
    throw isConnectionFailure(error) ? new DatabaseUnavailableError(error) : error;
  }
}

/** Answers the error that makes the connection unusable; undefined when it can go back to the pool. */
async function rollBack(client: PoolClient): Promise<Error | undefined> {
  try {
    await client.query('ROLLBACK');
    return undefined;
  } catch (error) {
    return error as Error;
  }
}
