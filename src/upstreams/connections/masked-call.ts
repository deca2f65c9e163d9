import type { SecretMask } from './secret-mask.js';
import type { UpstreamCall, UpstreamListener, UpstreamOutcome } from '../upstream-call.js';
import { UpstreamFailure } from '../upstream-failure.js';

/** The call, with the secrets of its server masked in what it fails with; its result stays as it is. */
export function maskedCall(call: UpstreamCall, mask: SecretMask): UpstreamCall {
  return {
    outcome: call.outcome.then((outcome) => maskedOutcome(outcome, mask)),
    cancel: (reason) => call.cancel(reason),
    detach: () => call.detach(),
  };
}

/** Told the same, with the secrets of the server masked. */
export function maskedListener(listener: UpstreamListener, mask: SecretMask): UpstreamListener {
  return {
    mayAsk: async () => (await listener.mayAsk?.()) ?? true,
    onProgress: ({ message, ...progress }) =>
      listener.onProgress(
        message === undefined ? progress : { ...progress, message: mask(message) },
      ),
    onReference: (reference) => listener.onReference(reference),
    onQuestion: (question) => listener.onQuestion({ ...question, message: mask(question.message) }),
  };
}

/** Rejects with the same failure, its message masked. */
export async function maskFailure<T>(work: Promise<T>, mask: SecretMask): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof UpstreamFailure) error.message = mask(error.message);
    throw error;
  }
}

function maskedOutcome(outcome: UpstreamOutcome, mask: SecretMask): UpstreamOutcome {
  return outcome.kind === 'error' ? { ...outcome, message: mask(outcome.message) } : outcome;
}
