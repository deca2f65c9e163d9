import type { FastifyInstance, FastifyRequest } from 'fastify';
import { UnauthorizedError } from '../../common/domain-error.js';
import type { ApiKeyDirectory } from '../api-key.directory.js';
import { rememberCaller } from './caller.js';

/** RFC 6750: the scheme is case-insensitive, the key one word. */
const BEARER = /^Bearer +([\x21-\x7e]{1,512}) *$/i;

/**
 * Authenticates before the body is read, so that nobody without a key makes the service take one in.
 * An address that does not exist is a 404 for everybody.
 */
export function useAuthentication(fastify: FastifyInstance, keys: ApiKeyDirectory): void {
  fastify.addHook('onRequest', (request, _reply, done) => {
    const key = keyOf(request);
    const caller = key === undefined ? undefined : keys.find(key);
    if (caller !== undefined) rememberCaller(request, caller);
    const mayPass = caller !== undefined || request.is404 || isPublic(request);
    done(mayPass ? undefined : new UnauthorizedError());
  });
}

function keyOf(request: FastifyRequest): string | undefined {
  return BEARER.exec(request.headers.authorization ?? '')?.[1];
}

function isPublic(request: FastifyRequest): boolean {
  return (request.routeOptions.config as { isPublic?: boolean }).isPublic === true;
}
