import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { TurnsController } from './http/turns.controller.js';
import { TargetRepository } from './target.repository.js';
import { TurnHolds } from './turn-holds.js';
import { TurnInterrupts } from './turn-interrupts.js';
import { TurnRenewal } from './turn-renewal.js';
import { TurnRules } from './turn-rules.js';
import { TurnRepository } from './turn.repository.js';
import { TurnService } from './turn.service.js';

@Module({
  imports: [EventsModule],
  controllers: [TurnsController],
  providers: [
    TargetRepository,
    TurnRepository,
    TurnRules,
    TurnRenewal,
    TurnInterrupts,
    TurnHolds,
    TurnService,
  ],
  exports: [TargetRepository, TurnService],
})
export class TargetsModule {}
