import type { CallOutcome } from '../background-calls/call-outcome.js';
import type { CallWork } from '../background-calls/call-work.js';

/** Work that has nothing left to do. */
export function endedWork(outcome: CallOutcome): CallWork {
  return {
    outcome: Promise.resolve(outcome),
    cancel: () => Promise.resolve(),
    attach: () => undefined,
    detach: () => undefined,
  };
}
