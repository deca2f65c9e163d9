import type { BackgroundCall } from '../background-calls/background-call.js';
import { DatabaseUnavailableError } from '../common/domain-error.js';
import { TurnInterruptedError } from '../targets/turn-interrupted.error.js';
import type { HandoverAttempt } from './handover.service.js';

/**
 * The call that has moved before its upstream was asked.
 * @throws TurnInterruptedError, or DatabaseUnavailableError when nobody can say that it has moved.
 */
export function movedCall(attempt: HandoverAttempt): BackgroundCall {
  if (attempt.kind === 'moved') return attempt.call;
  if (attempt.kind === 'turn_interrupted') throw new TurnInterruptedError();
  throw new DatabaseUnavailableError();
}
