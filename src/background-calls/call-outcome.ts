import type { CallErrorCode } from '../common/call-error-code.js';

/** A CallToolResult as the upstream sent it: known fields are read with care, unknown ones are kept. */
export type ToolResult = Record<string, unknown>;

/** How the work behind a call ended. */
export type CallOutcome =
  | { kind: 'result'; result: ToolResult }
  /** The result was longer than allowed and was not received after `bytes`; `kept` reads its beginning. */
  | { kind: 'oversized'; kept: () => ToolResult; bytes: number; message: string }
  | { kind: 'error'; code: CallErrorCode; message: string; outcomeUnknown: boolean };
