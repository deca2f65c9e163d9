import { type DynamicModule, type INestApplication, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { stringify } from 'yaml';
import { AuthModule } from './auth/auth.module.js';
import { CommonModule } from './common/common.module.js';
import { ConfigModule } from './config/config.module.js';
import { readEnvironment } from './config/environment.js';
import { DatabaseModule } from './database/database.module.js';
import { DeliveryModule } from './delivery/delivery.module.js';
import { inStableOrder, refuseDuplicateOperations, shareProblems } from './openapi-shape.js';
import { SettingsModule } from './settings/settings.module.js';
import { TargetsModule } from './targets/targets.module.js';
import { UpstreamsModule } from './upstreams/upstreams.module.js';

const DESCRIPTION = `Moves slow MCP tool calls of AI agents to the background and delivers their results.
Errors are \`application/problem+json\` (RFC 9457); every answer carries \`x-request-id\`.`;

/**
 * The contract as YAML, read from the decorators of all controllers. Nothing is started: in preview
 * mode Nest makes no instance of any provider, so no database is needed.
 */
export async function renderOpenApi(): Promise<string> {
  const app = await NestFactory.create(documentedModule(), new FastifyAdapter(), {
    preview: true,
    logger: false,
    abortOnError: false,
  });
  return stringify(createDocument(app), { aliasDuplicateObjects: false, lineWidth: 0 });
}

function documentedModule(): DynamicModule {
  return {
    module: DocumentedModule,
    imports: [
      ...[CommonModule, ConfigModule.forRoot(readEnvironment({})), DatabaseModule, AuthModule],
      ...[SettingsModule, TargetsModule, DeliveryModule, UpstreamsModule],
    ],
  };
}

function createDocument(app: INestApplication): OpenAPIObject {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Background Calls')
    .setDescription(DESCRIPTION)
    .setVersion('1')
    .addBearerAuth({ type: 'http', scheme: 'bearer', description: 'A key: `Bearer bgc_…`' })
    .addTag('Agent', 'For agent engines: keys of the audience `agent`')
    .addTag('Admin', 'For administrators: keys of the audience `admin`')
    .build();
  const document = SwaggerModule.createDocument(app, config, {
    operationIdFactory: (_controller, method) => method,
  });
  refuseDuplicateOperations(document);
  shareProblems(document);
  return inStableOrder(document);
}

@Module({})
class DocumentedModule {}
