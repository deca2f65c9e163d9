import { ApiProperty } from '@nestjs/swagger';
import { FromText, NumberBetween } from './value.decorators.js';

/** The query of a long poll. */
export class WaitQuery {
  @ApiProperty({ default: 0, required: false })
  @FromText()
  @NumberBetween(0, 60, 'Seconds to wait for something to answer; 0 answers at once.')
  wait: number = 0;
}
