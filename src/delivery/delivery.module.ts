import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { TargetsModule } from '../targets/targets.module.js';
import { CallDeliveries } from './call-deliveries.repository.js';
import { NotificationOutbox } from './notification-outbox.js';
import { NotificationRepository } from './notification.repository.js';

@Module({
  imports: [EventsModule, TargetsModule],
  providers: [NotificationRepository, NotificationOutbox, CallDeliveries],
  exports: [NotificationOutbox, CallDeliveries],
})
export class DeliveryModule {}
