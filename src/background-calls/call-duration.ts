import type { CallSummary } from './background-call.js';

/** Milliseconds from the start of an ended call, or from its row where it never started, to its end. */
export function durationMsOf({
  endedAt,
  startedAt,
  createdAt,
}: Pick<CallSummary, 'endedAt' | 'startedAt' | 'createdAt'>): number {
  const start = startedAt ?? createdAt;
  return (endedAt ?? start).getTime() - start.getTime();
}
