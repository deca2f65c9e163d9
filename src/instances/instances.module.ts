import { Module } from '@nestjs/common';
import { InstanceLease } from './instance-lease.js';
import { InstanceRepository } from './instance.repository.js';

/** This process among the replicas. */
@Module({
  providers: [InstanceRepository, InstanceLease],
  exports: [InstanceRepository, InstanceLease],
})
export class InstancesModule {}
