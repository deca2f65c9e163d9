import { Module } from '@nestjs/common';
import { HealthRepository } from './health.repository.js';
import { HealthController } from './http/health.controller.js';
import { Readiness } from './readiness.js';

/** What a load balancer and a supervisor ask. */
@Module({
  controllers: [HealthController],
  providers: [HealthRepository, Readiness],
})
export class HealthModule {}
