import { Module, type OnModuleInit } from '@nestjs/common';
import { BackgroundCallsModule } from '../background-calls/background-calls.module.js';
import { CallTakeOver } from '../background-calls/take-over/call-take-over.js';
import { QueueDispatcher } from '../background-calls/queue/queue-dispatcher.js';
import { PolicyModule } from '../policy/policy.module.js';
import { SettingsModule } from '../settings/settings.module.js';
import { TargetsModule } from '../targets/targets.module.js';
import { UpstreamsModule } from '../upstreams/upstreams.module.js';
import { AlwaysHandover } from './always-handover.js';
import { DispatchMark } from './dispatch-mark.js';
import { ForegroundCalls } from './foreground-calls.js';
import { ForegroundFlow } from './foreground-flow.js';
import { HandoverService } from './handover.service.js';
import { ToolCallsController } from './http/tool-calls.controller.js';
import { UpstreamCallDriver } from './upstream-call.driver.js';
import { QueuedHandover } from './queued-handover.js';
import { ToolCallAdmission } from './tool-call.admission.js';
import { ToolCallMetrics } from './tool-call-metrics.js';
import { ToolCallService } from './tool-call.service.js';

/** The use case: a tool call is answered, or handed over. */
@Module({
  imports: [BackgroundCallsModule, PolicyModule, SettingsModule, TargetsModule, UpstreamsModule],
  controllers: [ToolCallsController],
  providers: [
    AlwaysHandover,
    DispatchMark,
    ForegroundCalls,
    ForegroundFlow,
    HandoverService,
    UpstreamCallDriver,
    QueuedHandover,
    ToolCallAdmission,
    ToolCallMetrics,
    ToolCallService,
  ],
  exports: [ForegroundCalls],
})
export class ToolCallsModule implements OnModuleInit {
  constructor(
    private readonly dispatcher: QueueDispatcher,
    private readonly takeOver: CallTakeOver,
    private readonly driver: UpstreamCallDriver,
  ) {}

  onModuleInit(): void {
    this.dispatcher.useDriver(this.driver);
    this.takeOver.useDriver(this.driver);
  }
}
