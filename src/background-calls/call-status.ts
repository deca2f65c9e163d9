/** The states of a background call and the moves between them; the database repeats both as guards. */
export const CALL_STATUSES = [
  'queued',
  'running',
  'input_required',
  'completed',
  'failed',
  'cancelled',
] as const;

export type CallStatus = (typeof CALL_STATUSES)[number];
export type TerminalStatus = Extract<CallStatus, 'completed' | 'failed' | 'cancelled'>;

export const TRANSITIONS: Readonly<Record<CallStatus, readonly CallStatus[]>> = {
  queued: ['running', 'failed', 'cancelled'],
  running: ['input_required', 'queued', 'completed', 'failed', 'cancelled'],
  input_required: ['running', 'completed', 'failed', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
};

/** A terminal state never changes. */
export function isTerminal(status: CallStatus): status is TerminalStatus {
  return TRANSITIONS[status].length === 0;
}

/** The states from which a call may move to `to`: the guard of every UPDATE that moves it. */
export function sourcesOf(to: CallStatus): CallStatus[] {
  return CALL_STATUSES.filter((from) => TRANSITIONS[from].includes(to));
}
