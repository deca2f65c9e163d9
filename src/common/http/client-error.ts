import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { HttpException } from '@nestjs/common';
import { toProblem } from './problem.js';
import { PROBLEM_CONTENT_TYPE } from './problem.filter.js';
import { requestIdOf } from './request-id.js';

const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers what is not HTTP, or not whole, and so never becomes a request. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = STATUSES[error.code ?? ''] ?? 400;
  const requestId = requestIdOf({ headers: {} });
  const reason = STATUS_CODES[status] ?? '';
  const problem = toProblem(new HttpException(reason, status), { requestId, url: '' });
  const body = JSON.stringify(problem.body);
  const head = [
    `HTTP/1.1 ${status} ${reason}`,
    `content-type: ${PROBLEM_CONTENT_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  socket.destroySoon();
}
