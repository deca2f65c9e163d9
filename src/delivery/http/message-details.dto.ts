import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { INSTANT, INSTANT_OR_NULL } from '../../common/http/instant.property.js';
import { PageDto } from '../../common/http/page.dto.js';
import { toPublicId } from '../../common/ids.js';
import type { MessageDetails, MessageSummary } from '../administration/message-summary.js';
import { MESSAGE_KINDS, type MessageKind } from '../message-kind.js';
import {
  DEAD_REASONS,
  type DeadReason,
  MESSAGE_STATES,
  type MessageState,
} from '../message-state.js';
import type { MessageAttempt } from '../webhook/message-attempt.repository.js';
import { SEND_OUTCOMES } from '../sending/send-outcome.js';
import { MESSAGE_TARGET, MessageDto, type MessageTargetDto } from './message.dto.js';

/** A message as lists show it: without its body. */
@ApiSchema({ name: 'MessageSummary' })
export class MessageSummaryDto {
  @ApiProperty({ type: String, example: 'msg_01m8q70cjvf6fa9fk2rwgkr9q0' })
  id!: string;

  @ApiProperty({ type: String, description: 'Name of the app', example: 'default' })
  app!: string;

  @ApiProperty(MESSAGE_TARGET)
  target!: MessageTargetDto;

  @ApiProperty({ enum: MESSAGE_KINDS, enumName: 'MessageKind' })
  kind!: MessageKind;

  @ApiProperty({ enum: MESSAGE_STATES, enumName: 'MessageState' })
  state!: MessageState;

  @ApiProperty({
    enum: DEAD_REASONS,
    enumName: 'DeadReason',
    nullable: true,
    description:
      'Why it is a dead letter: nobody is there to take it, or all tries failed too long',
  })
  deadReason!: DeadReason | null;

  @ApiProperty({
    type: 'integer',
    description: 'How often it was handed out; tries that met a busy receiver are not counted',
  })
  attempts!: number;

  @ApiProperty({ type: 'integer', description: 'Webhook tries that failed, one after another' })
  failures!: number;

  @ApiProperty({ ...INSTANT_OR_NULL, description: 'When its webhook is tried again' })
  nextAttemptAt!: string | null;

  @ApiProperty({
    type: Boolean,
    description: 'It is sent again, once the message that its target has out has ended',
  })
  heldBack!: boolean;

  @ApiProperty({ ...INSTANT_OR_NULL, description: 'When it was last made to be sent again' })
  redeliveredAt!: string | null;

  @ApiProperty({ ...INSTANT, description: 'When it was first handed out' })
  createdAt!: string;

  @ApiProperty({
    ...INSTANT_OR_NULL,
    description: 'When it was delivered; of a message that is sent again, the time before',
  })
  deliveredAt!: string | null;

  @ApiProperty({
    type: [String],
    description: 'The background calls of which it tells, oldest first',
  })
  callIds!: string[];

  static from(message: MessageSummary, app: string): MessageSummaryDto {
    return Object.assign(new MessageSummaryDto(), summaryOf(message, app));
  }
}

/** One try of a webhook. */
@ApiSchema({ name: 'MessageDelivery' })
class MessageDeliveryDto {
  @ApiProperty({ type: 'integer', description: 'Which hand-out of the message it was, from 1' })
  number!: number;

  @ApiProperty({ ...INSTANT, description: 'When the try began' })
  startedAt!: string;

  @ApiProperty({
    type: 'integer',
    description: 'Milliseconds until it was answered, failed or was broken off',
  })
  durationMs!: number;

  @ApiProperty({
    enum: SEND_OUTCOMES,
    enumName: 'DeliveryOutcome',
    description:
      '`delivered`: a 2xx. `busy`: the receiver wants it later. `gone`: nobody will ever take it. ' +
      '`failed`: any other answer, or none in time. `aborted`: the service was leaving, or came too late',
  })
  outcome!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Of the answer; null: there was none',
  })
  httpStatus!: number | null;

  @ApiProperty({ type: String, nullable: true, description: 'What went wrong' })
  error!: string | null;

  static from({ startedAt, ...attempt }: MessageAttempt): MessageDeliveryDto {
    return { ...attempt, startedAt: startedAt.toISOString() };
  }
}

@ApiSchema({ name: 'MessageDetails' })
export class MessageDetailsDto extends MessageSummaryDto {
  @ApiProperty({ type: MessageDto, description: 'As it is handed out, the same at every try' })
  body!: unknown;

  @ApiProperty({
    type: [MessageDeliveryDto],
    description:
      'The last 50 tries of its webhook; hand-outs to a receiver that asks are only counted',
  })
  deliveries!: MessageDeliveryDto[];

  static fromDetails(
    { summary, body, deliveries }: MessageDetails,
    app: string,
  ): MessageDetailsDto {
    return Object.assign(new MessageDetailsDto(), summaryOf(summary, app), {
      body: JSON.parse(body) as unknown,
      deliveries: deliveries.map((attempt) => MessageDeliveryDto.from(attempt)),
    });
  }
}

@ApiSchema({ name: 'MessagePage' })
export class MessagePageDto extends PageDto {
  @ApiProperty({ type: [MessageSummaryDto] })
  data!: MessageSummaryDto[];
}

function summaryOf(message: MessageSummary, app: string): MessageSummaryDto {
  const { id, address, kind, state, deadReason, attempts, failures, heldBack } = message;
  return {
    ...{ id: toPublicId('msg', id), app, target: address, kind, state, deadReason },
    ...{ attempts, failures, heldBack },
    nextAttemptAt: message.nextAttemptAt?.toISOString() ?? null,
    redeliveredAt: message.redeliveredAt?.toISOString() ?? null,
    createdAt: message.createdAt.toISOString(),
    deliveredAt: message.deliveredAt?.toISOString() ?? null,
    callIds: message.callIds.map((callId) => toPublicId('bgc', callId)),
  };
}
