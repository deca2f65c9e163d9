import { Global, Module } from '@nestjs/common';
import { DatabaseMetrics } from './database-metrics.js';
import { MetricsController } from './http/metrics.controller.js';
import { MetricsRegistry } from './metrics.registry.js';

/** The figures of this process; every folder adds its own. */
@Global()
@Module({
  controllers: [MetricsController],
  providers: [MetricsRegistry, DatabaseMetrics],
  exports: [MetricsRegistry],
})
export class MetricsModule {}
