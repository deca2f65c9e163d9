import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { systemFailure } from '../../common/system-error.js';
import { OutboundRefusedError, UnknownStatusError } from '../../outbound/outbound-errors.js';
import {
  RequestFailed,
  RequestRefused,
  ResultOversized,
  RpcFailure,
  SessionForgotten,
  UpstreamFailure,
} from '../upstream-failure.js';
import { isUnreadable, jsonRpcErrorIn, reasonOf } from './sdk-reason.js';
import { OversizedAnswer } from './streams/oversized-answer.js';

/** The server speaks no protocol version that we do (protocol 2026-07-28). */
const UNSUPPORTED_PROTOCOL = -32022;
const NEWER_PROTOCOL =
  'The server speaks only a newer MCP protocol than this service (up to 2025-11-25).';
/**
 * The code under which an answer that can't be read is handed to its request; one of JSON-RPC's own
 * range that no MCP SDK uses.
 */
export const UNREADABLE_ANSWER = -32097;
/** The same for an answer that is too long. */
export const OVERSIZED_ANSWER = -32098;
/** Failures before a connection stood: of the address, the socket or TLS. */
const NOT_CONNECTED_SYSCALLS = new Set(['connect', 'getaddrinfo']);
const NOT_CONNECTED_CODES =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|\w*CERT\w*|ERR_TLS\w*|ERR_SSL\w*|UNABLE_TO\w*)$/;

/** The failure of a request that was sent on an initialised session. */
export function toCallFailure(error: unknown, hasSession: boolean): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  if (error instanceof OversizedAnswer) return new ResultOversized(() => error.kept(), error.bytes);
  if (error instanceof McpError) {
    if (error.data instanceof OversizedAnswer) return toCallFailure(error.data, hasSession);
    return error.code === (UNREADABLE_ANSWER as number)
      ? new UpstreamFailure('upstream_error', reasonOf(error), true)
      : new RpcFailure(reasonOf(error), error.code);
  }
  if (error instanceof StreamableHTTPError) return toHttpFailure(error, hasSession);
  const refusal = refusalIn(error);
  if (refusal) return refused(refusal);
  const reason = reasonOf(error);
  if (isUnknownStatus(error)) return new RequestFailed(failedText(reason));
  if (isNotConnected(error)) return unreachable(reason);
  if (isUnreadable(error)) return notMcp(reason);
  return connectionLost(reason);
}

/** The failure of connecting and initialising: nothing was asked of any tool yet. */
export function toConnectFailure(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  const refusal = refusalIn(error);
  if (refusal) return refused(refusal);
  if (isUnreadable(error)) return noMcpServer(reasonOf(error));
  return speaksNewerProtocol(error)
    ? new UpstreamFailure('upstream_unreachable', NEWER_PROTOCOL)
    : unreachable(reasonOf(error));
}

/** The request surely did not get there. */
export function unreachable(reason: string): UpstreamFailure {
  return new UpstreamFailure('upstream_unreachable', `The upstream can't be reached: ${reason}`);
}

/** A refused address is the cause of a failed `fetch`. */
function refusalIn(error: unknown): OutboundRefusedError | undefined {
  const { cause = error } = error as { cause?: unknown };
  return cause instanceof OutboundRefusedError ? cause : undefined;
}

function refused({ message }: OutboundRefusedError): UpstreamFailure {
  return new UpstreamFailure('outbound_refused', `The upstream is not asked: ${message}`);
}

/** The request may have been received. */
export function connectionLost(reason: string): UpstreamFailure {
  return new UpstreamFailure('upstream_lost', connectionLostText(reason));
}

export function connectionLostText(reason: string): string {
  return `The connection to the upstream was lost: ${reason}`;
}

/** Something came in answer, which nobody can read. */
export function notMcp(reason: string): UpstreamFailure {
  return new UpstreamFailure('upstream_error', notMcpText(reason), true);
}

/** The same while connecting: nothing was asked of a tool. */
export function noMcpServer(reason: string): UpstreamFailure {
  return new UpstreamFailure('upstream_unreachable', notMcpText(reason));
}

export function notMcpText(reason: string): string {
  return `The upstream's answer is not MCP: ${reason}`;
}

function toHttpFailure(error: StreamableHTTPError, hasSession: boolean): UpstreamFailure {
  const status = error.code ?? -1;
  const reason = reasonOf(error);
  const forgotSession = status === 404 || (status === 400 && /session/i.test(error.message));
  if (hasSession && forgotSession) return new SessionForgotten(reason);
  if (status >= 400 && status < 500) return new RequestRefused(reason);
  // Not one of the two content types that MCP knows.
  if (status < 400) return new UpstreamFailure('upstream_error', reason, true);
  // A gateway may have given up on a request that the server behind it goes on with.
  return new RequestFailed(failedText(reason));
}

function failedText(reason: string): string {
  return `The upstream failed: ${reason}`;
}

function speaksNewerProtocol(error: unknown): boolean {
  if (error instanceof StreamableHTTPError)
    return jsonRpcErrorIn(error)?.code === UNSUPPORTED_PROTOCOL;
  return error instanceof McpError && error.code === UNSUPPORTED_PROTOCOL;
}

function isNotConnected(error: unknown): boolean {
  const { code = '', syscall = '' } = systemFailure(error);
  return NOT_CONNECTED_SYSCALLS.has(syscall) || NOT_CONNECTED_CODES.test(code);
}

function isUnknownStatus(error: unknown): boolean {
  return (error as { cause?: unknown }).cause instanceof UnknownStatusError;
}
