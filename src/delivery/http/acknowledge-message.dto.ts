import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { IsEngineId } from '../../common/http/is-engine-id.decorator.js';

/** That a message was received. */
@ApiSchema({ name: 'Acknowledgement' })
export class AcknowledgeMessageDto {
  @ApiProperty({
    type: String,
    required: false,
    description: 'The turn in which the message is worked on: it begins in the same step',
  })
  @IfGiven()
  @IsEngineId()
  turnId?: string;
}
