import { Pool, types } from 'pg';
import type { Logger } from '../common/logger.js';

const MAX_CONNECTIONS = 20;
const INT8 = 20;

// Sequences and byte counts stay far below 2^53.
types.setTypeParser(INT8, Number);

/**
 * Each connection keeps the plans of its statements (`StatementNames`), perhaps from when a table was still
 * empty: they have to be right for a full table too, so whatever has an index is read by it.
 */
const OPTIONS = '-c enable_seqscan=off';

/** Every wait for the database has an end: to connect, to get a lock, to run, to read the answer. */
export const DATABASE_LIMITS_MS = { connect: 5_000, lock: 4_000, statement: 8_000, answer: 10_000 };

export function createPool(
  databaseUrl: string,
  logger: Logger,
  limitsMs = DATABASE_LIMITS_MS,
): Pool {
  const pool = new Pool({
    connectionString: databaseUrl,
    application_name: 'background-calls',
    options: OPTIONS,
    keepAlive: true,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: limitsMs.connect,
    lock_timeout: limitsMs.lock,
    statement_timeout: limitsMs.statement,
    query_timeout: limitsMs.answer,
    idle_in_transaction_session_timeout: limitsMs.answer,
  });
  // For as long as it lives: from being made until its taker listens nobody else does, and an error that
  // comes in the same packet as the greeting would end the process. A broken one is not used again.
  pool.on('connect', (client) =>
    client.on('error', (error) => logger.warn('database.connection_lost', {}, error)),
  );
  // Of an idle connection, which has said so itself; the next query makes a new one.
  pool.on('error', () => undefined);
  return pool;
}
