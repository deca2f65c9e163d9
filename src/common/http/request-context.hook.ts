import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type RequestContext, runInRequestContext } from '../request-context.js';

/**
 * Serves every request inside its RequestContext and says its id in `x-request-id`.
 * The context is entered twice because reading the body ends it: the handler runs in an event of the
 * socket, which belongs to no request.
 */
export function useRequestContext(fastify: FastifyInstance): void {
  const contexts = new WeakMap<FastifyRequest, RequestContext>();
  fastify.addHook('onRequest', (request, reply, done) => {
    const context: RequestContext = { requestId: request.id, statements: 0 };
    contexts.set(request, context);
    void reply.header('x-request-id', request.id);
    runInRequestContext(context, done);
  });
  fastify.addHook('preValidation', (request, _reply, done) => {
    const context = contexts.get(request);
    if (context === undefined) done();
    else runInRequestContext(context, done);
  });
}
