import { ApiProperty, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { INSTANT } from '../../common/http/instant.property.js';
import { EVENT_TYPES } from '../../events/event-type.js';
import { BotTargetDto, SessionTargetDto } from './message.dto.js';

/** Describes what a test delivery posts; it is never built from this class. */
@ApiSchema({ name: 'TestMessage' })
export class TestMessageDto {
  @ApiProperty({ type: String, example: 'msg_01m8q70cjvf6fa9fk2rwgkr9q0' })
  id!: string;

  @ApiProperty({ enum: ['test'] })
  kind!: string;

  @ApiProperty({ type: String, description: 'Not for a model' })
  text!: string;

  @ApiProperty({ ...INSTANT, description: 'When it was made' })
  createdAt!: string;
}

@ApiSchema({ name: 'EventServer' })
class EventServerDto {
  @ApiProperty({ type: String })
  name!: string;

  @ApiProperty({ type: String })
  title!: string;
}

@ApiSchema({ name: 'EventCall' })
class EventCallDto {
  @ApiProperty({ type: String, example: 'bgc_01m8q70cjvf6fa9fk2rwgkr9q0' })
  id!: string;

  @ApiProperty({ type: EventServerDto, nullable: true, description: 'Null: it was removed' })
  server!: EventServerDto | null;

  @ApiProperty({ type: String, nullable: true })
  tool!: string | null;

  @ApiProperty({ type: String, nullable: true })
  agentId!: string | null;

  @ApiProperty({ type: String, nullable: true })
  turnId!: string | null;
}

/** Describes what is posted of an event; it is never built from this class. */
@ApiSchema({ name: 'Event' })
export class EventDto {
  @ApiProperty({ type: String, example: 'evt_4711', description: 'The same at every try' })
  id!: string;

  @ApiProperty({ type: 'integer', description: 'Grows in the order in which events were written' })
  sequence!: number;

  @ApiProperty({ enum: EVENT_TYPES, enumName: 'EventType' })
  type!: string;

  @ApiProperty({ type: String, example: 'app_01h455vb4pex5vsknk084sn02q' })
  app!: string;

  @ApiProperty({
    oneOf: [{ $ref: getSchemaPath(SessionTargetDto) }, { $ref: getSchemaPath(BotTargetDto) }],
  })
  target!: SessionTargetDto | BotTargetDto;

  @ApiProperty({ type: EventCallDto, nullable: true, description: 'Null: it belongs to no call' })
  call!: EventCallDto | null;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'By its type' })
  data!: object;

  @ApiProperty({ ...INSTANT, description: 'When it was written, with what happened' })
  createdAt!: string;
}
