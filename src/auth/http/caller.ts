import type { FastifyRequest } from 'fastify';
import type { ApiKey } from '../api-key.js';

const callers = new WeakMap<FastifyRequest, ApiKey>();

/** Remembers with which key a request came. */
export function rememberCaller(request: FastifyRequest, key: ApiKey): void {
  callers.set(request, key);
}

/** Undefined when the request came without a valid key. */
export function callerOf(request: FastifyRequest): ApiKey | undefined {
  return callers.get(request);
}
