import { AppsModule } from '../apps/apps.module.js';
import { Module } from '@nestjs/common';
import { DeliveryModule } from '../delivery/delivery.module.js';
import { EventsModule } from '../events/events.module.js';
import { InstancesModule } from '../instances/instances.module.js';
import { SettingsModule } from '../settings/settings.module.js';
import { TargetsModule } from '../targets/targets.module.js';
import { BackgroundCallRegistry } from './background-call.registry.js';
import { BackgroundCallRepository } from './background-call.repository.js';
import { CallCanceller } from './call-canceller.js';
import { CallEndRecorder } from './call-end.recorder.js';
import { CallJournal } from './call-journal.js';
import { CallListRepository } from './call-list.repository.js';
import { CallMetrics } from './call-metrics.js';
import { CallQueue } from './queue/call-queue.js';
import { CallReader } from './call-reader.js';
import { CallTakeOver } from './take-over/call-take-over.js';
import { HandoverAnswer } from './handover/handover-answer.js';
import { HandoverGate } from './handover/handover-gate.js';
import { HandoverLimitsRepository } from './handover/handover-limits.repository.js';
import { AdminBackgroundCallsController } from './http/admin-background-calls.controller.js';
import { BackgroundCallsController } from './http/background-calls.controller.js';
import { CallPresenter } from './http/call.presenter.js';
import { SessionBackgroundCallsController } from './http/session-background-calls.controller.js';
import { EndWriter } from './in-flight/end-writer.js';
import { InFlightCalls } from './in-flight/in-flight-calls.js';
import { InputAnswerer } from './questions/input-answerer.js';
import { InputRequestRegistry } from './questions/input-request.registry.js';
import { InputRequestRepository } from './questions/input-request.repository.js';
import { OpenQuestions } from './questions/open-questions.js';
import { ProgressWriter } from './in-flight/progress-writer.js';
import { QueueDispatcher } from './queue/queue-dispatcher.js';
import { ReadMarker } from './read-marker.js';
import { ReferenceWriter } from './in-flight/reference-writer.js';
import { QueuedCallRepository } from './queue/queued-call.repository.js';
import { ResultFiling } from './results/result-filing.js';
import { TakeOverRegistry } from './take-over/take-over.registry.js';
import { TakeOverRepository } from './take-over/take-over.repository.js';
import { WorkRecorder } from './in-flight/work-recorder.js';
import { WorkSignsRepository } from './in-flight/work-signs.repository.js';

/** Everything about a call from its handover to its end. */
@Module({
  imports: [
    InstancesModule,
    SettingsModule,
    EventsModule,
    AppsModule,
    TargetsModule,
    DeliveryModule,
  ],
  controllers: [
    SessionBackgroundCallsController,
    BackgroundCallsController,
    AdminBackgroundCallsController,
  ],
  providers: [
    BackgroundCallRegistry,
    BackgroundCallRepository,
    CallCanceller,
    CallEndRecorder,
    CallJournal,
    CallListRepository,
    CallMetrics,
    CallPresenter,
    CallQueue,
    CallReader,
    CallTakeOver,
    HandoverAnswer,
    HandoverGate,
    HandoverLimitsRepository,
    EndWriter,
    InFlightCalls,
    InputAnswerer,
    InputRequestRegistry,
    InputRequestRepository,
    OpenQuestions,
    ProgressWriter,
    QueueDispatcher,
    QueuedCallRepository,
    ReadMarker,
    ReferenceWriter,
    ResultFiling,
    TakeOverRegistry,
    TakeOverRepository,
    WorkRecorder,
    WorkSignsRepository,
  ],
  exports: [
    BackgroundCallRegistry,
    CallPresenter,
    CallQueue,
    CallTakeOver,
    HandoverAnswer,
    InFlightCalls,
    ProgressWriter,
    QueueDispatcher,
  ],
})
export class BackgroundCallsModule {}
