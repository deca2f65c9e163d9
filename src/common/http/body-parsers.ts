import { UnsupportedMediaTypeException } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { parseJsonBody } from './json-body.js';

const JSON_TYPES = /^application\/([\w.-]+\+)?json\s*(;|$)/i;

/** Replaces Fastify's parsers: JSON is ours, an empty body is fine whatever its type, the rest is a 415. */
export function useBodyParsers(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser<Buffer>(JSON_TYPES, { parseAs: 'buffer' }, (_request, bytes, done) =>
    finish(done, () => parseJsonBody(bytes)),
  );
  fastify.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, bytes, done) =>
    finish(done, () => refuseContent(bytes)),
  );
}

function finish(done: (error: Error | null, body?: unknown) => void, read: () => unknown): void {
  try {
    done(null, read());
  } catch (error) {
    done(error as Error);
  }
}

function refuseContent(bytes: Buffer): void {
  if (bytes.length > 0)
    throw new UnsupportedMediaTypeException('The body must be application/json.');
}
