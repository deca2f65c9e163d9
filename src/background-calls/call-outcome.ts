import type { CallErrorCode } from '../common/call-error-code.js';

/** A CallToolResult as the upstream sent it: known fields are read with care, unknown ones are kept. */
export type ToolResult = Record<string, unknown>;

/** How the work behind a call ended. */
export type CallOutcome =
  | { kind: 'result'; result: ToolResult }
  | { kind: 'error'; code: CallErrorCode; message: string; outcomeUnknown: boolean };

/** The port to the work behind one call: an upstream request now, other kinds of work later. */
export interface CallWork {
  /** Never rejects. */
  readonly outcome: Promise<CallOutcome>;
  /** Tells the worker to stop; resolves when it was told and its connection is closed. Repeatable. */
  cancel(reason: string): Promise<void>;
  /** From now on progress goes to this listener alone. */
  onProgress(listener: (progress: WorkProgress) => void): void;
}

export interface WorkProgress {
  progress: number;
  total?: number;
  message?: string;
}
