import { Module } from '@nestjs/common';
import { BackgroundCallsModule } from '../background-calls/background-calls.module.js';
import { InstancesModule } from '../instances/instances.module.js';
import { CallSweeper } from './call-sweeper.js';
import { OwnCallsReconciler } from './own-calls.reconciler.js';
import { RecoveryService } from './recovery.service.js';
import { SweepRepository } from './sweep.repository.js';

/** Goes on with, or finishes, what a dead process left behind. */
@Module({
  imports: [InstancesModule, BackgroundCallsModule],
  providers: [CallSweeper, OwnCallsReconciler, RecoveryService, SweepRepository],
  exports: [RecoveryService],
})
export class RecoveryModule {}
