import { Global, Module } from '@nestjs/common';
import { DatabaseAnswerRepository } from './database-answer.repository.js';
import { DatabaseMetrics } from './database-metrics.js';
import { MetricsController } from './http/metrics.controller.js';
import { MetricsRegistry } from './metrics.registry.js';

/** The figures of this process; every room adds its own. */
@Global()
@Module({
  controllers: [MetricsController],
  providers: [MetricsRegistry, DatabaseAnswerRepository, DatabaseMetrics],
  exports: [MetricsRegistry],
})
export class MetricsModule {}
