import type { Pool } from 'pg';
import { DatabaseUnavailableError } from '../common/domain-error.js';
import { breaksConnection, isWorthRetrying } from './database-failure.js';
import { PooledConnection } from './pooled-connection.js';

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

  /** The connections of this process at the moment, and how much waits for one. */
  get load(): { busy: number; idle: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { busy: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
  }

  async query<R extends object = Row>(sql: string, values: readonly unknown[] = []): Promise<R[]> {
    const connection = await PooledConnection.take(this.pool);
    try {
      return await connection.rows<R>(sql, values);
    } finally {
      connection.giveBack();
    }
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
    const connection = await PooledConnection.take(this.pool);
    try {
      await connection.run('BEGIN');
      const result = await work(toTransaction(connection));
      await commit(connection);
      return result;
    } catch (error) {
      await connection.rollBack();
      throw error;
    } finally {
      connection.giveBack();
    }
  }
}

function toTransaction(connection: PooledConnection): Transaction {
  return {
    inTransaction: true,
    query: (sql, values = []) => connection.rows(sql, values),
  };
}

async function commit(connection: PooledConnection): Promise<void> {
  const done = await connection.run('COMMIT').catch((error: unknown) => {
    // An error that the server answered, on a connection that lives, is a rollback that is known.
    const isKnown = !(error instanceof DatabaseUnavailableError && breaksConnection(error.cause));
    throw isKnown ? error : new CommitOutcomeUnknownError((error as Error).cause);
  });
  // PostgreSQL answers ROLLBACK, without an error, when a statement had failed and was swallowed.
  if (done.command !== 'COMMIT')
    throw new Error('A failed statement was swallowed inside the transaction: it was rolled back.');
}
