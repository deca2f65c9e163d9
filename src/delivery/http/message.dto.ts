import { ApiExtraModels, ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsNumber, Max, Min } from 'class-validator';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { IsEngineId } from '../../common/http/is-engine-id.decorator.js';
import { toPublicId } from '../../common/ids.js';
import type { StoredMessage } from '../message.repository.js';

export class PollQuery {
  @ApiProperty({
    type: Number,
    minimum: 0,
    maximum: 60,
    default: 0,
    required: false,
    description: 'Seconds to wait when there is no message',
  })
  @Type(() => Number)
  @IsNumber()
  @Min(0)
  @Max(60)
  wait: number = 0;
}

export class AcknowledgeBody {
  @ApiProperty({
    type: String,
    required: false,
    description: 'The turn in which the message is worked on: it begins in the same step',
  })
  @IfGiven()
  @IsEngineId()
  turnId?: string;
}

export class MessageErrorDto {
  @ApiProperty({ type: String })
  code!: string;

  @ApiProperty({ type: String })
  message!: string;
}

export class NotificationDto {
  @ApiProperty({ type: String })
  id!: string;

  @ApiProperty({ type: String })
  callId!: string;

  @ApiProperty({ type: String, description: 'Name of the MCP server' })
  server!: string;

  @ApiProperty({ type: String })
  tool!: string;

  @ApiProperty({ enum: ['completed', 'failed', 'cancelled'], enumName: 'EndedCallStatus' })
  status!: string;

  @ApiProperty({ type: MessageErrorDto, required: false })
  error?: MessageErrorDto;

  @ApiProperty({ type: 'integer' })
  durationMs!: number;

  @ApiProperty({ type: String, nullable: true, description: 'The beginning of the result as text' })
  preview!: string | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Size of the whole result' })
  resultBytes!: number | null;

  @ApiProperty({ type: Boolean, description: 'Whether the preview is not the whole result' })
  truncated!: boolean;
}

export class SessionTargetDto {
  @ApiProperty({ enum: ['session'] })
  type!: string;

  @ApiProperty({ type: String })
  sessionId!: string;
}

/** Describes the body that is stored and handed out as text; it is never built from this class. */
export class MessageDto {
  @ApiProperty({ type: String })
  id!: string;

  @ApiProperty({ enum: ['background_call.result'], enumName: 'MessageKind' })
  kind!: string;

  @ApiProperty({ type: SessionTargetDto })
  target!: SessionTargetDto;

  @ApiProperty({ type: String, description: 'What the model reads' })
  text!: string;

  @ApiProperty({ type: [NotificationDto], description: 'Oldest first' })
  notifications!: NotificationDto[];

  @ApiProperty({ type: String, nullable: true })
  traceparent!: string | null;

  @ApiProperty({ type: String, format: 'date-time' })
  createdAt!: string;
}

@ApiExtraModels(MessageDto)
export class MessagesDto {
  @ApiProperty({ type: [MessageDto] })
  data!: MessageDto[];
}

export class AcknowledgedMessageDto {
  @ApiProperty({ type: String })
  id!: string;

  @ApiProperty({
    enum: ['pending', 'delivered', 'dead', 'discarded'],
    enumName: 'MessageState',
  })
  state!: string;

  @ApiProperty({ type: 'integer', description: 'How often the message was handed out' })
  attempts!: number;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  deliveredAt!: string | null;

  static from({ id, state, attempts, deliveredAt }: StoredMessage): AcknowledgedMessageDto {
    return Object.assign(new AcknowledgedMessageDto(), {
      id: toPublicId('msg', id),
      state,
      attempts,
      deliveredAt: deliveredAt?.toISOString() ?? null,
    });
  }
}
