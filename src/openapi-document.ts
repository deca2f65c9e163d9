import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { stringify } from 'yaml';
import { AppModule } from './app.module.js';
import { readEnvironment } from './config/environment.js';
import {
  describeResponses,
  inStableOrder,
  refuseDanglingReferences,
  refuseDuplicateOperations,
  shareProblems,
} from './openapi-shape.js';
import { EventDto, TestMessageDto } from './delivery/http/webhook-bodies.dto.js';
import { WEBHOOKS } from './openapi-webhooks.js';

const DESCRIPTION = `Moves slow MCP tool calls of AI agents to the background and delivers their results.
Errors are \`application/problem+json\` (RFC 9457); every answer carries \`x-request-id\`.`;

/**
 * The contract as YAML, read from the decorators of all controllers. Nothing is started: in preview
 * mode Nest makes no instance of any provider, so no database is needed.
 */
export async function renderOpenApi(): Promise<string> {
  const app = await NestFactory.create(
    AppModule.forRoot(readEnvironment({})),
    new FastifyAdapter(),
    {
      preview: true,
      logger: false,
      abortOnError: false,
    },
  );
  return stringify(createDocument(app), { aliasDuplicateObjects: false, lineWidth: 0 });
}

function createDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Background Calls')
    .setDescription(DESCRIPTION)
    .setVersion('1')
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'opaque',
      description: 'A key: `Bearer bgc_…`',
    })
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer('http://127.0.0.1:8080', 'Where `npm start` listens')
    .addTag('Agent', 'For agent engines: keys of the audience `agent`')
    .addTag('Admin', 'For administrators: keys of the audience `admin`')
    .addTag('Webhooks', 'What this service sends: no key, a signature')
    .addTag('Service', 'For load balancers and supervisors: no key')
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    operationIdFactory: (_controller, method) => method,
    extraModels: [TestMessageDto, EventDto],
  });
  document.webhooks = WEBHOOKS;
  refuseDuplicateOperations(document);
  refuseDanglingReferences(document);
  shareProblems(document);
  describeResponses(document);
  return inStableOrder(document);
}
