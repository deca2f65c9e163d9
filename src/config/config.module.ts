import { type DynamicModule, Global, Module } from '@nestjs/common';
import { Logger } from '../common/logger.js';
import { Configuration } from './environment.js';

/** The checked environment and the logger, which is the first to need it. */
@Global()
@Module({})
export class ConfigModule {
  static forRoot(configuration: Configuration): DynamicModule {
    return {
      module: ConfigModule,
      providers: [
        { provide: Configuration, useValue: configuration },
        { provide: Logger, useFactory: () => Logger.create(configuration.logLevel) },
      ],
      exports: [Configuration, Logger],
    };
  }
}
