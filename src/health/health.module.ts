import { Module } from '@nestjs/common';
import { HealthController } from './http/health.controller.js';
import { Readiness } from './readiness.js';

/** What a load balancer and a supervisor ask. */
@Module({
  controllers: [HealthController],
  providers: [Readiness],
})
export class HealthModule {}
