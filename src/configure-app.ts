import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiKeyDirectory } from './auth/api-key.directory.js';
import { useAuthentication } from './auth/http/authentication.hook.js';
import { useBodyParsers } from './common/http/body-parsers.js';
import { answerClientError } from './common/http/client-error.js';
import { ProblemFilter } from './common/http/problem.filter.js';
import { useRequestContext } from './common/http/request-context.hook.js';
import { requestIdOf } from './common/http/request-id.js';
import { RequestValidationPipe } from './common/http/request-validation.pipe.js';
import { UnexpectedBodyGuard } from './common/http/unexpected-body.guard.js';
import { Logger } from './common/logger.js';
import type { Configuration } from './config/environment.js';

/** What a body holds beside the arguments of a tool. */
const ENVELOPE_BYTES = 65_536;
/** Ids and tool names have up to 128 characters; each may come as three percent-encoded bytes. */
const MAX_PARAM_LENGTH = 3 * 3 * 128;
/** How long a request may take to arrive; how long its answer takes is not limited here. */
const ARRIVAL_MS = 60_000;

/** A Nest application with our whole HTTP pipeline, for the server and for tests alike. */
export async function createApp(
  module: Type | DynamicModule,
  configuration: Configuration,
): Promise<NestFastifyApplication> {
  const adapter = createAdapter(configuration);
  const options = { bodyParser: false, logger: false, abortOnError: false } as const;
  const app = await NestFactory.create<NestFastifyApplication>(module, adapter, options);
  return configureApp(app);
}

/** Fastify with our limits; what fails before there is a route is answered as a problem too. */
function createAdapter(configuration: Configuration): FastifyAdapter {
  const filter = new ProblemFilter(Logger.create(configuration.logLevel));
  return new FastifyAdapter({
    bodyLimit: configuration.maxArgumentBytes + ENVELOPE_BYTES,
    requestTimeout: ARRIVAL_MS,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    genReqId: requestIdOf,
    return503OnClosing: false,
    clientErrorHandler: answerClientError,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      filter.answer(error, request, reply),
  });
}

/** Installs hooks, parsers, filter, guard and pipe; before `app.init()`. */
function configureApp(app: NestFastifyApplication): NestFastifyApplication {
  const fastify = app.getHttpAdapter().getInstance();
  useRequestContext(fastify);
  useAuthentication(fastify, app.get(ApiKeyDirectory));
  useBodyParsers(fastify);
  app.useGlobalFilters(new ProblemFilter(app.get(Logger)));
  app.useGlobalGuards(new UnexpectedBodyGuard());
  app.useGlobalPipes(new RequestValidationPipe());
  return app;
}
