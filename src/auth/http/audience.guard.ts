import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { ForbiddenError, UnauthorizedError } from '../../common/domain-error.js';
import type { Audience } from '../api-key.js';
import { AUDIENCE_METADATA } from './audience.decorator.js';
import { callerOf } from './caller.js';
import { PUBLIC_METADATA } from './public.decorator.js';

/** Lets a request pass only where its key is of the audience that the route names: closed by default. */
@Injectable()
export class AudienceGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  /**
   * @throws UnauthorizedError without a valid key.
   * @throws ForbiddenError for a key of another audience, and on a route that names none.
   */
  canActivate(context: ExecutionContext): boolean {
    const route = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean>(PUBLIC_METADATA, route)) return true;
    const caller = callerOf(context.switchToHttp().getRequest<FastifyRequest>());
    if (caller === undefined) throw new UnauthorizedError();
    const audience = this.reflector.getAllAndOverride<Audience | undefined>(
      AUDIENCE_METADATA,
      route,
    );
    if (caller.audience !== audience) throw new ForbiddenError();
    return true;
  }
}
