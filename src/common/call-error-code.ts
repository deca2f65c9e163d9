/** Why a background call failed. A code is part of the API and of stored messages: it is never renamed. */
export const CALL_ERROR_CODES = [
  'timeout',
  'idle_timeout',
  'interrupted',
  'upstream_unreachable',
  'upstream_lost',
  'upstream_error',
  'outbound_refused',
  'tool_error',
  'output_limit',
] as const;
export type CallErrorCode = (typeof CALL_ERROR_CODES)[number];
