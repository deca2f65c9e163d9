import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ForbiddenError } from '../../common/domain-error.js';
import { callerOf } from './caller.js';

/** The app (its stored UUID) that the agent or bot key of this request is bound to. */
export const CurrentApp = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const appId = callerOf(context.switchToHttp().getRequest<FastifyRequest>())?.appId;
  if (appId == null) throw new ForbiddenError();
  return appId;
});
