import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { InvalidRequestError } from '../domain-error.js';
import { unknownFieldsIn } from './field-errors.js';

/** A field that a route does not read would look as if it had taken effect. */
@Injectable()
export class UnexpectedBodyInterceptor implements NestInterceptor {
  /** @throws InvalidRequestError when a route without a body is given more than an empty object. */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { body } = context.switchToHttp().getRequest<FastifyRequest>();
    if (body !== undefined && !readsBody(context)) refuseFields(body);
    return next.handle();
  }
}

function readsBody(context: ExecutionContext): boolean {
  const parameters = (Reflect.getMetadata(
    ROUTE_ARGS_METADATA,
    context.getClass(),
    context.getHandler().name,
  ) ?? {}) as object;
  return Object.keys(parameters).some((key) => key.startsWith(`${RouteParamtypes.BODY}:`));
}

function refuseFields(body: unknown): void {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new InvalidRequestError([{ pointer: '', detail: 'must be an object' }]);
  const errors = unknownFieldsIn(body);
  if (errors.length > 0) throw new InvalidRequestError(errors);
}
