import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DynamicModule, Module, type Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AuthModule } from '../../src/auth/auth.module.js';
import { CommonModule } from '../../src/common/common.module.js';
import { ConfigModule } from '../../src/config/config.module.js';
import { type Configuration, readEnvironment } from '../../src/config/environment.js';
import { createApp } from '../../src/configure-app.js';
import { DatabaseModule } from '../../src/database/database.module.js';
import { MetricsModule } from '../../src/metrics/metrics.module.js';
import { SettingsModule } from '../../src/settings/settings.module.js';
import { SECRETS_KEYS } from './secrets-keys.js';
import { send, type TestRequest, type TestResponse } from './http-client.js';

export interface BaseApp {
  app: NestFastifyApplication;
  send(request: TestRequest): Promise<TestResponse>;
  close(): Promise<void>;
}

/** The base levels (keys, figures, settings) on a real database, with the given controllers and feature modules. */
export async function startBaseApp(
  environment: NodeJS.ProcessEnv,
  controllers: Type[] = [],
  features: Type[] = [],
): Promise<BaseApp> {
  const workspaces = join(tmpdir(), 'workspaces');
  const defaults = {
    LOG_LEVEL: 'silent',
    BGC_WORKSPACES_DIR: workspaces,
    BGC_SECRETS_KEYS: SECRETS_KEYS,
    BGC_OUTBOUND_ALLOW: '127.0.0.1',
  };
  const configuration = readEnvironment({ ...defaults, ...environment });
  const app = await createApp(baseModule(configuration, controllers, features), configuration);
  await app.listen(0, '127.0.0.1');
  const origin = await app.getUrl();
  return { app, send: (request) => send(origin, request), close: () => app.close() };
}

function baseModule(
  configuration: Configuration,
  controllers: Type[],
  features: Type[],
): DynamicModule {
  return {
    module: BaseModule,
    controllers,
    imports: [
      CommonModule,
      ConfigModule.forRoot(configuration),
      DatabaseModule,
      AuthModule,
      MetricsModule,
      SettingsModule,
      ...features,
    ],
  };
}

@Module({})
class BaseModule {}
