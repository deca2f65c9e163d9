import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiResponse, getSchemaPath } from '@nestjs/swagger';
import { PROBLEM_KINDS } from './problem-status.js';
import { ProblemDto } from './problem.dto.js';

type ProblemStatus = 400 | 401 | 403 | 404 | 409 | 413 | 415 | 429 | 502 | 503 | 504;

const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds', schema: { type: 'integer' as const } },
};
const HEADERS: Partial<Record<ProblemStatus, object>> = {
  401: { 'WWW-Authenticate': { schema: { type: 'string' as const } } },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** Documents which error answers an operation has; each status lists the codes that it can carry. */
export function ApiProblems(...statuses: ProblemStatus[]): MethodDecorator & ClassDecorator {
  return applyDecorators(ApiExtraModels(ProblemDto), ...statuses.map(documented));
}

function documented(status: ProblemStatus): MethodDecorator & ClassDecorator {
  const codes = Object.entries(PROBLEM_KINDS).filter(([, kind]) => kind.status === status);
  return ApiResponse({
    status,
    description: codes.map(([code]) => `\`${code}\``).join(', '),
    headers: HEADERS[status] as never,
    content: { 'application/problem+json': { schema: { $ref: getSchemaPath(ProblemDto) } } },
  });
}
