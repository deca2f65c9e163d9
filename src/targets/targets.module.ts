import { Module } from '@nestjs/common';
import { EventsModule } from '../events/events.module.js';
import { TurnsController } from './http/turns.controller.js';
import { TargetRepository } from './target.repository.js';
import { TurnHolds } from './turn-holds.js';
import { TurnInterrupts } from './turn-interrupts.js';
import { TurnKeeper } from './turn-keeper.js';
import { TurnLedger } from './turn-ledger.js';
import { TurnRepository } from './turn.repository.js';
import { TurnService } from './turn.service.js';

@Module({
  imports: [EventsModule],
  controllers: [TurnsController],
  providers: [
    TargetRepository,
    TurnRepository,
    TurnLedger,
    TurnKeeper,
    TurnInterrupts,
    TurnHolds,
    TurnService,
  ],
  exports: [TargetRepository, TurnService],
})
export class TargetsModule {}
