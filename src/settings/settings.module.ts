import { Global, Module } from '@nestjs/common';
import { SettingsController } from './http/settings.controller.js';
import { Settings } from './settings.js';
import { SettingsRepository } from './settings.repository.js';

/** The runtime settings, which nearly every other module reads. */
@Global()
@Module({
  controllers: [SettingsController],
  providers: [Settings, SettingsRepository],
  exports: [Settings],
})
export class SettingsModule {}
