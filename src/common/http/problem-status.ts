import type { ErrorCode } from '../error-code.js';

/** How a code looks in HTTP. */
interface ProblemKind {
  status: number;
  title: string;
  headers?: Record<string, string>;
}

/** The one place where a code becomes an HTTP status; a code without a row does not compile. */
export const PROBLEM_KINDS: Readonly<Record<ErrorCode, ProblemKind>> = {
  invalid_request: { status: 400, title: 'Invalid request' },
  unauthorized: {
    status: 401,
    title: 'No valid key',
    headers: { 'www-authenticate': 'Bearer' },
  },
  forbidden: { status: 403, title: 'Key of another audience' },
  command_not_allowed: { status: 403, title: 'Command not allowed' },
  not_found: { status: 404, title: 'Not found' },
  server_not_found: { status: 404, title: 'Unknown MCP server' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  conflict: { status: 409, title: 'Conflict' },
  delivery_by_webhook: { status: 409, title: 'Messages go out by webhook' },
  message_delivered: { status: 409, title: 'The message is delivered' },
  message_discarded: { status: 409, title: 'The message is discarded' },
  turn_interrupted: { status: 409, title: 'The turn was interrupted' },
  call_cancelled: { status: 409, title: 'The call was cancelled' },
  no_result: { status: 409, title: 'The call has no result' },
  input_not_required: { status: 409, title: 'The call needs no input' },
  payload_too_large: { status: 413, title: 'Request too large' },
  unsupported_media_type: { status: 415, title: 'Unsupported media type' },
  limit_reached: { status: 429, title: 'Limit reached' },
  headers_too_large: { status: 431, title: 'Request headers too large' },
  internal_error: { status: 500, title: 'Internal error' },
  upstream_error: { status: 502, title: 'The MCP server answered with an error' },
  upstream_lost: { status: 502, title: 'The connection to the MCP server was lost' },
  outbound_refused: { status: 502, title: 'The address of the MCP server may not be connected to' },
  upstream_unreachable: { status: 502, title: 'The MCP server is not reachable' },
  output_limit: { status: 502, title: 'The result is larger than what is taken' },
  database_unavailable: { status: 503, title: 'Database unavailable' },
  draining: { status: 503, title: 'Shutting down' },
  timeout: { status: 504, title: 'The MCP server took too long' },
};
