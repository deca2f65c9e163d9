import { Module } from '@nestjs/common';
import { BackgroundCallsModule } from '../background-calls/background-calls.module.js';
import { DeliveryModule } from '../delivery/delivery.module.js';
import { InstancesModule } from '../instances/instances.module.js';
import { CallSweeper } from './call-sweeper.js';
import { DeadOwners } from './dead-owners.js';
import { OwnCallsReconciler } from './own-calls.reconciler.js';
import { RecoveryService } from './recovery.service.js';
import { RetentionRepository } from './retention/retention.repository.js';
import { RetentionService } from './retention/retention.service.js';
import { RetentionSweeper } from './retention/retention-sweeper.js';
import { TargetsModule } from '../targets/targets.module.js';
import { SweepRepository } from './sweep.repository.js';
import { SweptCallMover } from './swept-call.mover.js';
import { SweptFiles } from './swept-files.js';

/** Goes on with, or finishes, what a dead process left behind; removes what is old. */
@Module({
  imports: [InstancesModule, TargetsModule, DeliveryModule, BackgroundCallsModule],
  providers: [
    CallSweeper,
    DeadOwners,
    OwnCallsReconciler,
    RecoveryService,
    RetentionRepository,
    RetentionService,
    RetentionSweeper,
    SweepRepository,
    SweptCallMover,
    SweptFiles,
  ],
  exports: [RecoveryService],
})
export class RecoveryModule {}
