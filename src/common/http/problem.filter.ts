import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from '../logger.js';
import { toProblem } from './problem.js';

export const PROBLEM_CONTENT_TYPE = 'application/problem+json; charset=utf-8';

/** The edge: every error of every route leaves as a problem, and an unexpected one is logged, once. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(error, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  /** Also used for what fails before there is a route, such as a malformed URL. */
  answer(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const problem = toProblem(error, { requestId: request.id, url: request.url });
    if (problem.isUnexpected)
      this.logger.error('request.failed', { requestId: request.id, method: request.method }, error);
    if (reply.sent) return;
    void reply
      .code(problem.status)
      .headers({ 'x-request-id': request.id, ...problem.headers })
      .type(PROBLEM_CONTENT_TYPE)
      .send(JSON.stringify(problem.body));
  }
}
