/**
 * Every code that a problem answer can carry. A code is part of the API: it is never renamed.
 * What HTTP status each becomes is decided in `http/problem-status.ts`, which has to name them all.
 */
export type ErrorCode =
  | 'invalid_request'
  | 'unauthorized'
  | 'forbidden'
  | 'command_not_allowed'
  | 'not_found'
  | 'server_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'conflict'
  | 'delivery_by_webhook'
  | 'message_delivered'
  | 'message_discarded'
  | 'turn_interrupted'
  | 'call_cancelled'
  | 'no_result'
  | 'input_not_required'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'limit_reached'
  | 'headers_too_large'
  | 'internal_error'
  | 'upstream_error'
  | 'upstream_lost'
  | 'upstream_unreachable'
  | 'outbound_refused'
  | 'output_limit'
  | 'database_unavailable'
  | 'draining'
  | 'timeout';
