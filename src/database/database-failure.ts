import { DatabaseError } from 'pg';

/** SQLSTATE classes and codes: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const UNAVAILABLE_CLASSES = new Set([
  '08', // connection exception
  '53', // insufficient resources: connections, memory, disk
  '57', // operator intervention: shutdown, restart, over statement_timeout
  '58', // system error: input/output
]);
const UNAVAILABLE = new Set([
  '25006', // read_only_sql_transaction: a failover in progress
  '25P03', // idle_in_transaction_session_timeout: this process was paused
  '55P03', // lock_not_available: over lock_timeout
]);
/** feature_not_supported, which a statement of ours may be, too; so it is this one only where it says so. */
const OUTDATED_PLAN = { code: '0A000', routine: 'RevalidateCachedQuery' };
/** protocol_violation: in practice a statement with the wrong number of parameters. */
const MISTAKE = '08P01';
const RETRY = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
]);
/** FATAL and PANIC end the session: https://www.postgresql.org/docs/current/protocol-error-fields.html */
const ENDS_SESSION = new Set(['FATAL', 'PANIC']);

/** Whether the database is away or too slow, as opposed to having refused the statement. */
export function isConnectionFailure(error: unknown): boolean {
  if (error instanceof TypeError || error instanceof RangeError) return false;
  if (!(error instanceof DatabaseError)) return error instanceof Error;
  const code = error.code ?? '';
  if (code === MISTAKE) return false;
  if (isOutdatedPlan(error)) return true;
  return UNAVAILABLE.has(code) || UNAVAILABLE_CLASSES.has(code.slice(0, 2));
}

/**
 * Whether the connection must not be used again: it is closed, or (no answer in time) it is not
 * known what the next answer on it belongs to.
 */
export function breaksConnection(error: unknown): boolean {
  if (error instanceof DatabaseError)
    return isOutdatedPlan(error) || ENDS_SESSION.has(error.severity ?? '');
  return isConnectionFailure(error);
}

/** Whether the same transaction is likely to succeed when it is run again at once. */
export function isWorthRetrying(error: unknown): boolean {
  return error instanceof DatabaseError && RETRY.has(error.code ?? '');
}

/** Whether the statement would have broken the constraint of this name. */
export function violates(error: unknown, constraint: string): boolean {
  return error instanceof DatabaseError && error.constraint === constraint;
}

/** A connection keeps a statement whose result a newer version has changed. Once more on another one, it works. */
function isOutdatedPlan({ code, routine }: DatabaseError): boolean {
  return code === OUTDATED_PLAN.code && routine === OUTDATED_PLAN.routine;
}
