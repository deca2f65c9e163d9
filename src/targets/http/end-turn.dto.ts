import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';

/** How a turn ended. */
@ApiSchema({ name: 'TurnEnd' })
export class EndTurnDto {
  @ApiProperty({
    type: Boolean,
    default: false,
    required: false,
    description: 'The user stopped the turn: its foreground calls are cancelled',
  })
  @IsBoolean()
  interrupted: boolean = false;
}
