import type { FastifyInstance } from 'fastify';
import { runInRequestContext } from '../request-context.js';

/**
 * Serves every request inside its RequestContext and says its id in `x-request-id`. Fastify itself
 * carries the context over the reading of the body.
 */
export function useRequestContext(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    runInRequestContext({ requestId: request.id, statements: 0 }, done);
  });
}
