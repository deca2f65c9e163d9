import { Global, Module } from '@nestjs/common';
import { Clock, SystemClock } from './clock.js';
import { Drain } from './drain.js';
import { Ids, RandomIds } from './ids.js';

@Global()
@Module({
  providers: [
    { provide: Clock, useClass: SystemClock },
    { provide: Ids, useClass: RandomIds },
    Drain,
  ],
  exports: [Clock, Ids, Drain],
})
export class CommonModule {}
