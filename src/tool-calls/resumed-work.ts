import type {
  UpstreamCall,
  UpstreamListener,
  UpstreamOutcome,
} from '../upstreams/upstream-call.js';
import type { CallOutcome } from '../background-calls/call-outcome.js';
import { UpstreamWork } from './upstream-work.js';

/**
 * Work that another process began. Where nothing came of going on with it, what ended the call is the
 * end of that process.
 */
export function resumedWork(resume: (listener: UpstreamListener) => UpstreamCall): UpstreamWork {
  return new UpstreamWork((listener) => {
    let isTakenUp = false;
    const call = resume({
      onProgress: (progress) => {
        isTakenUp = true;
        listener.onProgress(progress);
      },
      onReference: (reference) => listener.onReference(reference),
      onQuestion: (question) => {
        isTakenUp = true;
        return listener.onQuestion(question);
      },
    });
    return {
      outcome: call.outcome.then((outcome) => (isTakenUp ? outcome : asInterrupted(outcome))),
      cancel: (reason) => call.cancel(reason),
      detach: () => call.detach(),
    };
  });
}

export function interrupted(why: string): CallOutcome & { kind: 'error' } {
  const message = `The service was restarted, and nobody could go on with the call: ${why}`;
  return { kind: 'error', code: 'interrupted', message, outcomeUnknown: true };
}

function asInterrupted(outcome: UpstreamOutcome): CallOutcome {
  const isLost = outcome.kind === 'error' && outcome.code === 'upstream_lost';
  return isLost ? interrupted(outcome.message) : outcome;
}
