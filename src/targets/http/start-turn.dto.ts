import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { IsEngineId } from '../../common/http/is-engine-id.decorator.js';

/** The turn that begins. */
@ApiSchema({ name: 'TurnStart' })
export class StartTurnDto {
  @ApiProperty({ type: String, required: false, description: 'Made by the service when missing' })
  @IfGiven()
  @IsEngineId()
  turnId?: string;
}
