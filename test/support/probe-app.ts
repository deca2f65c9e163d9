import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { ApiKey, Audience } from '../../src/auth/api-key.js';
import { ApiKeyDirectory } from '../../src/auth/api-key.directory.js';
import { AudienceGuard } from '../../src/auth/http/audience.guard.js';
import { Logger } from '../../src/common/logger.js';
import { createApp } from '../../src/configure-app.js';
import { type Configuration, readEnvironment } from '../../src/config/environment.js';
import { send, type TestRequest, type TestResponse } from './http-client.js';

export const PROBE_APP_ID = '01935f2e-0000-7000-8000-000000000001';
const KEYS: Readonly<Record<string, Audience>> = {
  'agent-key-of-the-probe-app': 'agent',
  'bot-key-of-the-probe-app': 'bot',
  'admin-key-of-the-probe-app': 'admin',
};

export const asAgent = { authorization: 'Bearer agent-key-of-the-probe-app' };
export const asAdmin = { authorization: 'Bearer admin-key-of-the-probe-app' };

/** A log that can be read by the test. */
class RecordingLogger extends Logger {
  readonly errors: string[] = [];

  constructor() {
    super({ info() {}, warn() {}, error() {} } as never);
  }

  override error(event: string): void {
    this.errors.push(event);
  }
}

export interface ProbeApp {
  logger: RecordingLogger;
  origin: string;
  send(request: TestRequest): Promise<TestResponse>;
  close(): Promise<void>;
}

/** The HTTP pipeline around the given controllers, with three known keys and no database. */
export async function startProbeApp(
  controllers: Type[],
  environment: NodeJS.ProcessEnv = {},
): Promise<ProbeApp> {
  const logger = new RecordingLogger();
  const configuration: Configuration = readEnvironment({ LOG_LEVEL: 'silent', ...environment });
  const app = await createApp(probeModule(controllers, logger), configuration);
  await app.listen(0, '127.0.0.1');
  const origin = await app.getUrl();
  return { logger, origin, send: (request) => send(origin, request), close: () => app.close() };
}

function probeModule(controllers: Type[], logger: Logger): DynamicModule {
  return {
    module: ProbeModule,
    controllers,
    providers: [
      { provide: Logger, useValue: logger },
      { provide: ApiKeyDirectory, useValue: { find: findKey } },
      { provide: APP_GUARD, useClass: AudienceGuard },
    ],
  };
}

function findKey(key: string): ApiKey | undefined {
  const audience = Object.hasOwn(KEYS, key) ? KEYS[key] : undefined;
  if (audience === undefined) return undefined;
  const appId = audience === 'admin' ? null : PROBE_APP_ID;
  return { id: key, audience, appId, hash: Buffer.alloc(0) };
}

@Module({})
class ProbeModule {}
