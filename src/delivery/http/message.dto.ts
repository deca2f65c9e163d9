import { ApiExtraModels, ApiProperty, ApiSchema, getSchemaPath } from '@nestjs/swagger';
import { INSTANT } from '../../common/http/instant.property.js';
import { MESSAGE_KINDS } from '../message-kind.js';
import { InputRequestDto } from './input-request.dto.js';

@ApiSchema({ name: 'MessageError' })
class MessageErrorDto {
  @ApiProperty({ type: String })
  code!: string;

  @ApiProperty({ type: String })
  message!: string;
}

const NOTIFIED_STATUSES = ['input_required', 'completed', 'failed', 'cancelled'];

@ApiSchema({ name: 'Notification' })
class NotificationDto {
  @ApiProperty({ type: String, example: 'ntf_01m8q70cjvf6fa9fk2rwgkr9q0' })
  id!: string;

  @ApiProperty({ type: String, description: 'The background call that ended or asks' })
  callId!: string;

  @ApiProperty({ type: String, description: 'Name of the MCP server' })
  server!: string;

  @ApiProperty({ type: String })
  tool!: string;

  @ApiProperty({ enum: NOTIFIED_STATUSES, enumName: 'NotifiedStatus' })
  status!: string;

  @ApiProperty({ type: MessageErrorDto, required: false, description: 'Only when it failed' })
  error?: MessageErrorDto;

  @ApiProperty({
    type: 'integer',
    description: 'Milliseconds from start to end, or to the question',
  })
  durationMs!: number;

  @ApiProperty({ type: String, nullable: true, description: 'The beginning of the result as text' })
  preview!: string | null;

  @ApiProperty({
    type: String,
    required: false,
    description: 'Path of the result within the workspace, where it is also a file',
    example: '.agent/mcp/bgc_01m8q70cjvf6fa9fk2rwgkr9q0.txt',
  })
  resultFile?: string;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Bytes of the whole result' })
  resultBytes!: number | null;

  @ApiProperty({ type: Boolean, description: 'Whether the preview is not the whole result' })
  truncated!: boolean;

  @ApiProperty({ type: InputRequestDto, required: false, description: 'Only when the call asks' })
  inputRequest?: InputRequestDto;
}

@ApiSchema({ name: 'SessionTarget' })
export class SessionTargetDto {
  @ApiProperty({ enum: ['session'] })
  type!: string;

  @ApiProperty({ type: String })
  sessionId!: string;
}

@ApiSchema({ name: 'BotTarget' })
export class BotTargetDto {
  @ApiProperty({ enum: ['bot'] })
  type!: string;

  @ApiProperty({ type: String })
  teamId!: string;

  @ApiProperty({ type: String })
  botId!: string;
}

export const MESSAGE_TARGET = {
  oneOf: [{ $ref: getSchemaPath(SessionTargetDto) }, { $ref: getSchemaPath(BotTargetDto) }],
};
export type MessageTargetDto = SessionTargetDto | BotTargetDto;

/** Describes the body that is stored and handed out as text; it is never built from this class. */
@ApiSchema({ name: 'Message' })
export class MessageDto {
  @ApiProperty({ type: String, example: 'msg_01m8q70cjvf6fa9fk2rwgkr9q0' })
  id!: string;

  @ApiProperty({
    enum: MESSAGE_KINDS,
    enumName: 'MessageKind',
    description: 'All notifications of a message are of its kind',
  })
  kind!: string;

  @ApiProperty(MESSAGE_TARGET)
  target!: MessageTargetDto;

  @ApiProperty({
    type: String,
    description: 'What the model reads, in the language of the app; give it on as it is',
  })
  text!: string;

  @ApiProperty({ type: [NotificationDto], description: 'Oldest first' })
  notifications!: NotificationDto[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Of the first call (W3C Trace Context)',
  })
  traceparent!: string | null;

  @ApiProperty({ ...INSTANT, description: 'When it was first handed out' })
  createdAt!: string;
}

@ApiExtraModels(MessageDto, SessionTargetDto, BotTargetDto)
@ApiSchema({ name: 'MessageList' })
export class MessagesDto {
  @ApiProperty({ type: [MessageDto] })
  data!: MessageDto[];
}
