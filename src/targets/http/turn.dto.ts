import { ApiProperty, ApiSchema } from '@nestjs/swagger';

/** A turn as it stands after the request. */
@ApiSchema({ name: 'Turn' })
export class TurnDto {
  @ApiProperty({ type: String })
  turnId!: string;

  @ApiProperty({
    type: Boolean,
    description: 'Whether this is the running turn of the session; an ended id stays ended',
  })
  running!: boolean;

  static from(turnId: string, running: boolean): TurnDto {
    return Object.assign(new TurnDto(), { turnId, running });
  }
}
