import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { IsEngineId } from '../../common/http/is-engine-id.decorator.js';

export class StartTurnBody {
  @ApiProperty({ type: String, required: false, description: 'Made by the service when missing' })
  @IfGiven()
  @IsEngineId()
  turnId?: string;
}

export class EndTurnBody {
  @ApiProperty({
    type: Boolean,
    default: false,
    required: false,
    description: 'The user stopped the turn: its foreground calls are cancelled',
  })
  @IsBoolean()
  interrupted: boolean = false;
}

export class TurnDto {
  @ApiProperty({ type: String })
  turnId!: string;

  @ApiProperty({
    type: Boolean,
    description: 'Whether this is the running turn of the session; an ended id stays ended',
  })
  running!: boolean;

  static of(turnId: string, running: boolean): TurnDto {
    return Object.assign(new TurnDto(), { turnId, running });
  }
}
