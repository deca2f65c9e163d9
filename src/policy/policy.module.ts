import { Module } from '@nestjs/common';
import { SettingsModule } from '../settings/settings.module.js';
import { UpstreamsModule } from '../upstreams/upstreams.module.js';
import { PolicyService } from './policy.service.js';

/** Decides the mode and the limits of each call. */
@Module({
  imports: [SettingsModule, UpstreamsModule],
  providers: [PolicyService],
  exports: [PolicyService],
})
export class PolicyModule {}
