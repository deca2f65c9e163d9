import { Module } from '@nestjs/common';
import { AppsModule } from '../apps/apps.module.js';
import { EventsModule } from '../events/events.module.js';
import { OutboundModule } from '../outbound/outbound.module.js';
import { TargetsModule } from '../targets/targets.module.js';
import { Acknowledgements } from './acknowledgements.js';
import { BacklogRepository } from './backlog.repository.js';
import { CallDeliveries } from './call-deliveries.repository.js';
import { DeliverableRepository } from './deliverable.repository.js';
import { DeliveryJournal } from './delivery-journal.js';
import { DeliveryMetrics } from './delivery-metrics.js';
import { DeliveryWaiters } from './pull/delivery-waiters.js';
import { MessageDiscard } from './administration/message-discard.js';
import { MessageListRepository } from './administration/message-list.repository.js';
import { MessageReader } from './administration/message-reader.js';
import { MessageRedelivery } from './administration/message-redelivery.js';
import { RedeliveryRepository } from './administration/redelivery.repository.js';
import { AdminMessagesController } from './http/admin-messages.controller.js';
import { AgentInstructionsController } from './http/agent-instructions.controller.js';
import { MessagesController } from './http/messages.controller.js';
import { TestDeliveryController } from './http/test-delivery.controller.js';
import { MessageEndings } from './message-endings.js';
import { MessageWriter } from './message-writer.js';
import { MessageClaims } from './message-claims.js';
import { MessageInbox } from './pull/message-inbox.js';
import { MessageRepository } from './message.repository.js';
import { NotificationOutbox } from './notification-outbox.js';
import { NotificationRepository } from './notification.repository.js';
import { EventDeliveryRepository } from './event-webhook/event-delivery.repository.js';
import { EventWebhookDelivery } from './event-webhook/event-webhook-delivery.js';
import { EventWebhookJournal } from './event-webhook/event-webhook-journal.js';
import { EventWebhookQueue } from './event-webhook/event-webhook-queue.js';
import { EventWebhookRelay } from './event-webhook/event-webhook-relay.js';
import { EventWebhookSettlement } from './event-webhook/event-webhook-settlement.js';
import { MessageAttemptRepository } from './webhook/message-attempt.repository.js';
import { TriedMessageRepository } from './webhook/tried-message.repository.js';
import { WebhookDelivery } from './webhook/webhook-delivery.js';
import { WebhookJournal } from './webhook/webhook-journal.js';
import { WebhookQueue } from './webhook/webhook-queue.js';
import { WebhookRelay } from './webhook/webhook-relay.js';
import { WebhookSettlement } from './webhook/webhook-settlement.js';
import { TestDelivery } from './sending/test-delivery.js';
import { SendTimes } from './sending/send-times.js';
import { WebhookSender } from './sending/webhook.sender.js';
import { ResultFiles } from './files/result-files.js';

@Module({
  imports: [AppsModule, EventsModule, OutboundModule, TargetsModule],
  controllers: [
    AdminMessagesController,
    AgentInstructionsController,
    MessagesController,
    TestDeliveryController,
  ],
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
    MessageEndings,
    MessageAttemptRepository,
    TriedMessageRepository,
    SendTimes,
    WebhookJournal,
    WebhookSender,
    WebhookSettlement,
    WebhookDelivery,
    WebhookQueue,
    WebhookRelay,
    TestDelivery,
    EventDeliveryRepository,
    EventWebhookDelivery,
    EventWebhookJournal,
    EventWebhookQueue,
    EventWebhookRelay,
    EventWebhookSettlement,
    MessageListRepository,
    MessageReader,
    RedeliveryRepository,
    MessageRedelivery,
    MessageDiscard,
    ResultFiles,
  ],
  exports: [NotificationOutbox, CallDeliveries, ResultFiles, WebhookRelay, EventWebhookRelay],
})
export class DeliveryModule {}
