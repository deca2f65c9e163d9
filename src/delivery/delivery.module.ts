import { Module } from '@nestjs/common';
import { AppsModule } from '../apps/apps.module.js';
import { EventsModule } from '../events/events.module.js';
import { TargetsModule } from '../targets/targets.module.js';
import { Acknowledgements } from './acknowledgements.js';
import { BacklogRepository } from './backlog.repository.js';
import { CallDeliveries } from './call-deliveries.repository.js';
import { DeliverableRepository } from './deliverable.repository.js';
import { DeliveryJournal } from './delivery-journal.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { DeliveryWaiters } from './pull/delivery-waiters.js';
import { AgentInstructionsController } from './http/agent-instructions.controller.js';
import { MessagesController } from './http/messages.controller.js';
import { MessageWriter } from './message-writer.js';
import { MessageClaims } from './message-claims.js';
import { MessageInbox } from './pull/message-inbox.js';
import { MessageRepository } from './message.repository.js';
import { NotificationOutbox } from './notification-outbox.js';
import { NotificationRepository } from './notification.repository.js';
import { ResultFiles } from './files/result-files.js';

@Module({
  imports: [AppsModule, EventsModule, TargetsModule],
  controllers: [AgentInstructionsController, MessagesController],
  providers: [
    NotificationRepository,
    NotificationOutbox,
    CallDeliveries,
    DeliverableRepository,
    MessageRepository,
    MessageWriter,
    MessageClaims,
    BacklogRepository,
    DeliveryJournal,
    DeliveryMetrics,
    DeliveryWaiters,
    MessageInbox,
    Acknowledgements,
    ResultFiles,
  ],
  exports: [NotificationOutbox, CallDeliveries, ResultFiles],
})
export class DeliveryModule {}
