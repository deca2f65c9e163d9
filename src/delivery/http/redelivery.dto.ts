import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Matches } from 'class-validator';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { INSTANT } from '../../common/http/instant.property.js';
import { IsInstant } from '../../common/http/is-instant.decorator.js';

/** Which dead letters are sent again. */
@ApiSchema({ name: 'Redelivery' })
export class RedeliverDto {
  @ApiProperty({
    ...INSTANT,
    description: 'Those that were made then or later (`createdAt`)',
  })
  @IsInstant()
  since!: string;

  @ApiProperty({
    type: String,
    required: false,
    description: 'Name or id of an app; left out: those of all apps',
  })
  @IfGiven()
  @Matches(/^[^\0]{1,128}$/, { message: '$property must be the name or id of an app' })
  app?: string;
}

@ApiSchema({ name: 'RedeliveryResult' })
export class RedeliveredDto {
  @ApiProperty({ type: 'integer', description: 'How many dead letters are pending again' })
  redelivered!: number;

  @ApiProperty({
    type: Boolean,
    description: 'There are more than one request sends again (10000): ask again',
  })
  hasMore!: boolean;
}
