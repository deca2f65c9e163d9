import type { DeadReason } from '../message-state.js';
import type { SendOutcome } from './send-outcome.js';
import { webhookBackoffMs } from './webhook-backoff.js';

const HOUR_MS = 3_600_000;

/** What is to be done with a message after a try. */
export type NextStep =
  | { kind: 'delivered'; turnId: string | undefined }
  | { kind: 'dead'; reason: DeadReason }
  /** `isBusy`: it was no failure, and does not count as a try. */
  | { kind: 'wait'; waitMs: number; isBusy: boolean }
  | { kind: 'give_back' };

/** What is known of a message when a try of it ended. */
export interface TriedMessage {
  /** In a row, before this try. */
  failures: number;
  /** Since it was made, its receiver last said that it is busy, or its delivery was set up anew. */
  ageMs: number;
  maxAgeHours: number;
  /** Whether the mode or the address is another one by now. */
  isConfiguredAnew: boolean;
}

/** The last try is made when the message is as old as it may become; `chance` is from 0 to 1. */
export function nextStep(outcome: SendOutcome, message: TriedMessage, chance: number): NextStep {
  if (outcome.kind === 'delivered') return outcome;
  // What another address says, or an address that is not asked any more, is no news of this one.
  if (outcome.kind === 'aborted' || message.isConfiguredAnew) return { kind: 'give_back' };
  if (outcome.kind === 'busy') return { kind: 'wait', waitMs: outcome.waitMs, isBusy: true };
  if (outcome.kind === 'gone') return { kind: 'dead', reason: 'receiver_gone' };
  return afterFailure(message, chance);
}

function afterFailure({ failures, ageMs, maxAgeHours }: TriedMessage, chance: number): NextStep {
  const maxAgeMs = maxAgeHours * HOUR_MS;
  if (ageMs >= maxAgeMs) return { kind: 'dead', reason: 'too_old' };
  const waitMs = Math.min(webhookBackoffMs(failures + 1, chance), maxAgeMs - ageMs);
  return { kind: 'wait', waitMs, isBusy: false };
}
