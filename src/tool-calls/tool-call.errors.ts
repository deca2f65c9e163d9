import type { CallOutcome } from '../background-calls/call-outcome.js';
import { DomainError, DrainingError } from '../common/domain-error.js';
import { TurnInterruptedError } from '../targets/turn-interrupted.error.js';
import type { StopReason } from './foreground-race.js';

/** No MCP server is registered under this name, or it is switched off. */
export class ServerNotFoundError extends DomainError {
  readonly code = 'server_not_found';

  constructor(name: string) {
    super(`There is no MCP server named "${name}".`, {
      errors: [{ pointer: '/server', detail: 'must be the name of a registered, enabled server' }],
    });
  }
}

/** The upstream answered with a JSON-RPC error. */
export class UpstreamAnsweredErrorError extends DomainError {
  readonly code = 'upstream_error';
}

/** The connection was lost in mid-call: the work may have been done. */
export class UpstreamLostError extends DomainError {
  readonly code = 'upstream_lost';
}

/** The upstream could not be reached: the work was surely not done. */
export class UpstreamUnreachableError extends DomainError {
  readonly code = 'upstream_unreachable';
}

/** The foreground limits passed without an answer; the upstream was told to stop. */
export class ForegroundTimeoutError extends DomainError {
  readonly code = 'timeout';
}

/** The session already runs as many background calls as it may, and the policy says to refuse more. */
export class LimitReachedError extends DomainError {
  readonly code = 'limit_reached';

  constructor() {
    super('The limit of running background calls is reached.', { retryAfterSec: 5 });
  }
}

/** The caller closed the connection, so nobody reads this answer; the upstream was told to stop. */
export class CallerGoneError extends DomainError {
  readonly code = 'call_cancelled';

  constructor() {
    super('The caller closed the connection before the call ended.');
  }
}

/** The error that a foreground caller gets for an outcome that is not a result. */
export function toError(outcome: Extract<CallOutcome, { kind: 'error' }>): DomainError {
  const extensions = outcome.outcomeUnknown ? { outcomeUnknown: true } : {};
  if (outcome.code === 'upstream_lost')
    return new UpstreamLostError(outcome.message, { extensions });
  if (outcome.code === 'timeout')
    return new ForegroundTimeoutError(outcome.message, { extensions });
  if (outcome.code === 'upstream_unreachable') return new UpstreamUnreachableError(outcome.message);
  return new UpstreamAnsweredErrorError(outcome.message, { extensions });
}

/** The error of a call that was stopped before it had an answer. */
export function stopError(reason: StopReason): DomainError {
  if (reason === 'turn_interrupted') return new TurnInterruptedError();
  return reason === 'caller_gone' ? new CallerGoneError() : new DrainingError();
}
