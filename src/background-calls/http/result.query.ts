import { ApiProperty } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { IfGiven } from '../../common/http/if-given.decorator.js';

export class ResultQuery {
  @ApiProperty({
    type: String,
    required: false,
    description:
      'One part of the result instead of the whole: the number of a content part, from 0, or ' +
      '`structuredContent`',
    example: '0',
  })
  @IfGiven()
  @Matches(/^(?:0|[1-9]\d{0,8}|structuredContent)$/, {
    message: '$property must be the number of a content part, from 0, or structuredContent',
  })
  part?: string;
}
