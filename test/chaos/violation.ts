import type { Evidence } from './evidence.js';

/** One thing that must not be, with the session in which it was seen. */
export interface Violation {
  sessionId?: string;
  what: string;
}

/** What holds whatever happens; the numbers are those of `docs/reliability.md`. */
export interface Invariant {
  id: string;
  says: string;
  violations(evidence: Evidence): Violation[];
}

const TERMINAL = ['completed', 'failed', 'cancelled'];

export function isTerminal(status: string): boolean {
  return TERMINAL.includes(status);
}

/** The rows of each key, in their order. */
export function grouped<T>(rows: readonly T[], keyOf: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}
