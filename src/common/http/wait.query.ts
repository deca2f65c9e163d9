import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsNumber, Max, Min } from 'class-validator';

/** The query of a long poll. */
export class WaitQuery {
  @ApiProperty({
    type: Number,
    minimum: 0,
    maximum: 60,
    default: 0,
    required: false,
    description: 'Seconds to wait for something to answer; 0 answers at once.',
  })
  @Type(() => Number)
  @IsNumber()
  @Min(0)
  @Max(60)
  wait: number = 0;
}
