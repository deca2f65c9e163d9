import { HttpException } from '@nestjs/common';
import { DomainError, NotFoundError } from '../domain-error.js';
import type { ErrorCode } from '../error-code.js';
import { PROBLEM_KINDS } from './problem-status.js';
import type { ProblemDto } from './problem.dto.js';

/** A whole error answer. */
interface ProblemResponse {
  status: number;
  headers: Record<string, string>;
  body: ProblemDto;
  /** Nobody expected this error, so it has to be logged. */
  isUnexpected: boolean;
}

/** The request that failed, as far as it is told. */
interface FailedRequest {
  requestId: string;
  url: string;
}

/** What the framework itself refuses, by the status that it gives. */
const FRAMEWORK_CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  408: 'request_timeout',
  409: 'conflict',
  413: 'payload_too_large',
  // a path parameter that is too long to be an id
  414: 'not_found',
  415: 'unsupported_media_type',
  431: 'headers_too_large',
};

type Told = Pick<DomainError, 'code' | 'message' | 'errors' | 'retryAfterSec' | 'extensions'>;

/** Turns anything that was thrown into an RFC 9457 answer; what is not expected tells no internals. */
export function toProblem(error: unknown, request: FailedRequest): ProblemResponse {
  const told = tell(error);
  const { status, title, headers } = PROBLEM_KINDS[told.code];
  return {
    status,
    headers: { ...headers, ...retryAfter(told) },
    body: {
      ...told.extensions,
      type: `urn:background-calls:problem:${told.code}`,
      title,
      status,
      detail: told.message,
      instance: request.url.split('?', 1)[0] ?? '/',
      code: told.code,
      requestId: request.requestId,
      errors: told.errors,
    },
    isUnexpected: told.code === 'internal_error',
  };
}

function tell(error: unknown): Told {
  if (error instanceof DomainError) return error;
  const code = FRAMEWORK_CODES[statusOf(error)];
  if (code === undefined) return plain('internal_error', 'Something failed inside the service.');
  return code === 'not_found' ? new NotFoundError() : plain(code, (error as Error).message);
}

/**
 * Nest's own exceptions, Fastify's errors, which carry `statusCode` and a code `FST_…`, and a caller
 * that breaks off while it sends the body, which Fastify gives the status 400.
 */
function statusOf(error: unknown): number {
  if (error instanceof HttpException) return error.getStatus();
  const { statusCode, code } = (error ?? {}) as { statusCode?: unknown; code?: unknown };
  const isOfHttp = typeof code === 'string' && (code.startsWith('FST_') || code === 'ECONNRESET');
  return isOfHttp && typeof statusCode === 'number' ? statusCode : 500;
}

function plain(code: ErrorCode, message: string): Told {
  return { code, message, errors: [], retryAfterSec: undefined, extensions: {} };
}

function retryAfter({ retryAfterSec }: Told): Record<string, string> {
  return retryAfterSec === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterSec)) };
}
