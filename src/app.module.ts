import { type DynamicModule, Module } from '@nestjs/common';
import { AppsModule } from './apps/apps.module.js';
import { AuthModule } from './auth/auth.module.js';
import { BackgroundCallsModule } from './background-calls/background-calls.module.js';
import { CommonModule } from './common/common.module.js';
import { ConfigModule } from './config/config.module.js';
import type { Configuration } from './config/environment.js';
import { DatabaseModule } from './database/database.module.js';
import { DeliveryModule } from './delivery/delivery.module.js';
import { DemoModule } from './demo/demo.module.js';
import { HealthModule } from './health/health.module.js';
import { InstancesModule } from './instances/instances.module.js';
import { MetricsModule } from './metrics/metrics.module.js';
import { RecoveryModule } from './recovery/recovery.module.js';
import { SettingsModule } from './settings/settings.module.js';
import { TargetsModule } from './targets/targets.module.js';
import { ToolCallsModule } from './tool-calls/tool-calls.module.js';
import { UpstreamsModule } from './upstreams/upstreams.module.js';

/** The whole service, from the base up. */
@Module({})
export class AppModule {
  static forRoot(configuration: Configuration): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ...[CommonModule, ConfigModule.forRoot(configuration), DatabaseModule, AuthModule],
        MetricsModule,
        ...[InstancesModule, SettingsModule, AppsModule, TargetsModule, UpstreamsModule],
        DeliveryModule,
        ...[BackgroundCallsModule, ToolCallsModule, RecoveryModule, HealthModule, DemoModule],
      ],
    };
  }
}
