import { toStorableText } from '../common/storable-text.js';
import type { CallError, ResultSummary } from './background-call.js';
import type { CallOutcome, ToolResult } from './call-outcome.js';
import type { TerminalStatus } from './call-status.js';
import { keepWithin, summarizeResult } from './results/result-summary.js';

/** Everything that is written when a call ends. */
export interface CallEnding {
  status: TerminalStatus;
  error: CallError | null;
  outcomeUnknown: boolean;
  result: EndedResult | null;
}

export interface EndedResult extends ResultSummary {
  /** What is kept of the result, as it came and as the bytes of its JSON. */
  whole: ToolResult;
  body: Buffer;
}

interface ResultLimits {
  /** Characters of a result that are told inline. */
  inlineChars: number;
  /** Bytes of a result that are kept. */
  maxBytes: number;
}

export const CANCELLED: CallEnding = {
  status: 'cancelled',
  error: null,
  outcomeUnknown: false,
  result: null,
};

export function failure({ code, message }: CallError, outcomeUnknown = false): CallEnding {
  const error = { code, message: toStorableText(message) };
  return { status: 'failed', error, outcomeUnknown, result: null };
}

/** A time-out says both the limit and the time that was spent. */
export function timedOut(maxHours: number, spentMs: number): CallEnding {
  const limit = maxHours < 1 ? `${Math.round(maxHours * 3_600_000) / 1_000} s` : `${maxHours} h`;
  const spentSec = Math.round(spentMs / 1_000);
  const message = `Not ended within its limit of ${limit}; it ran for ${spentSec} s.`;
  return failure({ code: 'timeout', message }, true);
}

/** Nobody goes on with the work. Whether its outcome is unknown is read from the row as it ends. */
export const INTERRUPTED = failure(
  { code: 'interrupted', message: 'The service was restarted while the call was running.' },
  true,
);

/** Turns what the worker answered into what is recorded: `isError` is a failure whose content is kept. */
export function endingOf(outcome: CallOutcome, limits: ResultLimits): CallEnding {
  if (outcome.kind === 'error') return failure(outcome, outcome.outcomeUnknown);
  if (outcome.kind === 'oversized') return oversized(outcome, limits);
  const { result } = outcome;
  const body = toBody(result);
  const bytes = body.byteLength;
  if (bytes > limits.maxBytes) {
    const message = `The result has ${bytes} bytes; at most ${limits.maxBytes} are kept.`;
    return overOutputLimit(keepWithin(result, limits.maxBytes), bytes, message, limits);
  }
  const shown = summarizeResult(result, bytes, limits.inlineChars);
  const summary = { ...shown, files: null, whole: result, body };
  if (!summary.isError)
    return { status: 'completed', error: null, outcomeUnknown: false, result: summary };
  const error: CallError = { code: 'tool_error', message: 'The tool answered with an error.' };
  return { status: 'failed', error, outcomeUnknown: false, result: summary };
}

/** What came is a part of what is kept at most, but its JSON may be written otherwise than the upstream did. */
function oversized(
  outcome: Extract<CallOutcome, { kind: 'oversized' }>,
  limits: ResultLimits,
): CallEnding {
  const { bytes, message } = outcome;
  const kept = outcome.kept();
  const ending = overOutputLimit(kept, bytes, message, limits);
  const isWithin = (ending.result?.body.byteLength ?? 0) <= limits.maxBytes;
  if (isWithin) return ending;
  return overOutputLimit(keepWithin(kept, limits.maxBytes), bytes, message, limits);
}

function overOutputLimit(
  kept: ToolResult,
  bytes: number,
  message: string,
  limits: ResultLimits,
): CallEnding {
  const summary = summarizeResult(kept, bytes, limits.inlineChars);
  return {
    status: 'failed',
    error: { code: 'output_limit', message },
    outcomeUnknown: false,
    result: { ...summary, truncated: true, files: null, whole: kept, body: toBody(kept) },
  };
}

/** JSON.stringify escapes NUL and lone surrogates, so the bytes hold the result exactly. */
function toBody(result: ToolResult): Buffer {
  return Buffer.from(JSON.stringify(result));
}
