import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { TargetRepository } from './target.repository.js';
import { TurnRepository } from './turn.repository.js';

@Module({
  imports: [EventsModule],
  providers: [TargetRepository, TurnRepository],
  exports: [TargetRepository],
})
export class TargetsModule {}
