import { applyDecorators, SetMetadata } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';

export const PUBLIC_METADATA = 'auth:public';

/** Opens one route to everybody, without a key: for liveness, never for data. */
export function Public(): MethodDecorator {
  return applyDecorators(SetMetadata(PUBLIC_METADATA, true), RouteConfig({ isPublic: true }));
}
