import { DatabaseError } from 'pg';

/** SQLSTATE classes and codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const CONNECTION_CLASS = '08';
const UNAVAILABLE = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '53300', // too_many_connections
  '25006', // read_only_sql_transaction: a failover in progress
  '57014', // query_canceled: over statement_timeout
  '55P03', // lock_not_available: over lock_timeout
]);
const RETRY = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
]);

/** Whether the database is away or too slow, as opposed to having refused the statement. */
export function isConnectionFailure(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return false;
  if (!(error instanceof DatabaseError)) return error instanceof Error;
  const code = error.code ?? '';
  return code.startsWith(CONNECTION_CLASS) || UNAVAILABLE.has(code);
}

/** Whether the same transaction is likely to succeed when it is run again at once. */
export function isWorthRetrying(error: unknown): boolean {
  return error instanceof DatabaseError && RETRY.has(error.code ?? '');
}
