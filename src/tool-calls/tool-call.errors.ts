import type { CallOutcome } from '../background-calls/call-outcome.js';
import { DomainError, DrainingError } from '../common/domain-error.js';
import { TurnInterruptedError } from '../targets/turn-interrupted.error.js';
import type { StopReason } from './foreground-race.js';
import { UpstreamFailure } from '../upstreams/upstream-failure.js';

const UPSTREAM_CODES = [
  'upstream_lost',
  'upstream_unreachable',
  'outbound_refused',
  'output_limit',
] as const;

type FailedOutcome = Exclude<CallOutcome, { kind: 'result' }>;

/** No MCP server is registered under this name, or it is switched off. */
export class ServerNotFoundError extends DomainError {
  readonly code = 'server_not_found';

  constructor(name: string) {
    super(`There is no MCP server named "${name}", or it is switched off.`, {
      errors: [{ pointer: '/server', detail: 'must be the name of a registered, enabled server' }],
    });
  }
}

/** The foreground limits passed without an answer; the upstream was told to stop. */
class ForegroundTimeoutError extends DomainError {
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
export function toError(outcome: FailedOutcome): DomainError {
  if (outcome.kind === 'oversized') return new UpstreamFailure('output_limit', outcome.message);
  const { code, message, outcomeUnknown } = outcome;
  if (code === 'timeout')
    return new ForegroundTimeoutError(message, {
      extensions: outcomeUnknown ? { outcomeUnknown } : {},
    });
  const ofUpstream = UPSTREAM_CODES.find((known) => known === code) ?? 'upstream_error';
  return new UpstreamFailure(ofUpstream, message, outcomeUnknown);
}

/** The error of a call that was stopped before it had an answer; `wasAsked`: the upstream may know of it. */
export function stopError(reason: StopReason, wasAsked: boolean): DomainError {
  if (reason === 'turn_interrupted') return new TurnInterruptedError();
  return reason === 'caller_gone' ? new CallerGoneError() : new DrainingError(wasAsked);
}
