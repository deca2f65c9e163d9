import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { INSTANT, INSTANT_OR_NULL } from '../../common/http/instant.property.js';
import { toPublicId } from '../../common/ids.js';
import type { CallDelivery } from '../../delivery/call-deliveries.repository.js';
import { SUPPRESSIONS, type Suppression } from '../../delivery/suppression.js';
import { type CallSummary, type Handover, HANDOVERS } from '../background-call.js';
import { CALL_STATUSES, type CallStatus } from '../call-status.js';
import { type Driver, DRIVERS } from '../in-flight/work-reference.js';
import { InputRequestDto } from '../../delivery/http/input-request.dto.js';
import {
  CallErrorDto,
  CallMessageDto,
  CallProgressDto,
  CallResultDto,
  CallServerDto,
} from './call-parts.dto.js';

const TEXT_OR_NULL = { type: String, nullable: true } as const;

/** A background call as lists show it: without its arguments and its policy. */
@ApiSchema({ name: 'BackgroundCallSummary' })
export class BackgroundCallSummaryDto {
  @ApiProperty({ example: 'bgc_01m8q70cjvf6fa9fk2rwgkr9q0' })
  id!: string;

  @ApiProperty({ enum: CALL_STATUSES, enumName: 'CallStatus' })
  status!: CallStatus;

  @ApiProperty({ description: 'Name of the app', example: 'default' })
  app!: string;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'Of a call of a session' })
  sessionId!: string | null;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'Of a call of a bot' })
  teamId!: string | null;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'Of a call of a bot' })
  botId!: string | null;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'As the engine named it' })
  agentId!: string | null;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'The turn in which the model made the call' })
  turnId!: string | null;

  @ApiProperty({ ...TEXT_OR_NULL, description: "The engine's own id of the call, as it was given" })
  toolCallId!: string | null;

  @ApiProperty({ type: CallServerDto })
  server!: CallServerDto;

  @ApiProperty()
  tool!: string;

  @ApiProperty({
    enum: HANDOVERS,
    enumName: 'Handover',
    description:
      'Why the call moved: its timer, its mode, a caller that hung up, no free slot, or a question of ' +
      'the MCP server',
  })
  handover!: Handover;

  @ApiProperty({
    enum: DRIVERS,
    enumName: 'Driver',
    description:
      'Who does the work: an MCP task that another process can go on with, or a request of this one',
  })
  driver!: Driver;

  @ApiProperty({ type: CallProgressDto, nullable: true, description: 'The last that was told' })
  progress!: CallProgressDto | null;

  @ApiProperty({ type: CallResultDto, nullable: true, description: 'Null without a result' })
  result!: CallResultDto | null;

  @ApiProperty({ type: CallErrorDto, nullable: true, description: 'Why the call failed' })
  error!: CallErrorDto | null;

  @ApiProperty({ description: 'The work may have been done although no result came' })
  outcomeUnknown!: boolean;

  @ApiProperty({
    type: InputRequestDto,
    nullable: true,
    description: 'What the MCP server wants to know, while the call is `input_required`',
  })
  inputRequest!: InputRequestDto | null;

  @ApiProperty({ ...INSTANT_OR_NULL, description: 'When the call fails with `timeout`' })
  deadlineAt!: string | null;

  @ApiProperty({ ...INSTANT_OR_NULL, description: 'When a cancel was first asked for' })
  cancelRequestedAt!: string | null;

  @ApiProperty({
    type: CallMessageDto,
    nullable: true,
    description: 'The message that tells the end of the call, once it was handed out',
  })
  message!: CallMessageDto | null;

  @ApiProperty({
    enum: SUPPRESSIONS,
    enumName: 'Suppression',
    nullable: true,
    description: 'Why the end of the call is told in no message; null: it was, or will be',
  })
  suppressed!: Suppression | null;

  @ApiProperty({ ...INSTANT_OR_NULL, description: 'When that message was acknowledged' })
  notifiedAt!: string | null;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'As the caller sent it (W3C Trace Context)' })
  traceparent!: string | null;

  @ApiProperty({ ...INSTANT, description: 'When the row was written' })
  createdAt!: string;

  @ApiProperty({ ...INSTANT_OR_NULL, description: 'When it started; null while it is queued' })
  startedAt!: string | null;

  @ApiProperty({ ...INSTANT, description: 'When the call moved' })
  backgroundedAt!: string;

  @ApiProperty({
    ...INSTANT_OR_NULL,
    description: 'When it reached a terminal state, which never changes',
  })
  endedAt!: string | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Milliseconds from start to end' })
  durationMs!: number | null;

  static from(call: CallSummary, app: string, delivery?: CallDelivery): BackgroundCallSummaryDto {
    return Object.assign(new BackgroundCallSummaryDto(), summaryOf(call, app, delivery));
  }
}

/** The fields of the summary, for whatever shows them. */
export function summaryOf(
  call: CallSummary,
  app: string,
  delivery: CallDelivery | undefined,
): BackgroundCallSummaryDto {
  const { address, startedAt, endedAt } = call;
  const message = delivery?.message ?? null;
  return {
    id: toPublicId('bgc', call.id),
    status: call.status,
    app,
    sessionId: address.type === 'session' ? address.sessionId : null,
    teamId: address.type === 'bot' ? address.teamId : null,
    botId: address.type === 'bot' ? address.botId : null,
    agentId: call.agentId,
    turnId: call.turnId,
    toolCallId: call.toolCallId,
    server: { ...call.server, id: toPublicId('msv', call.server.id) },
    tool: call.tool,
    handover: call.handover,
    driver: call.driver,
    progress: call.progress,
    result: call.result && CallResultDto.from(call.result),
    error: call.error,
    outcomeUnknown: call.outcomeUnknown,
    inputRequest: call.inputRequest && {
      ...call.inputRequest,
      deadlineAt: instant(call.deadlineAt),
    },
    deadlineAt: instant(call.deadlineAt),
    cancelRequestedAt: instant(call.cancelRequestedAt),
    message: message && { ...message, id: toPublicId('msg', message.id) },
    suppressed: delivery?.suppressed ?? null,
    notifiedAt: instant(delivery?.notifiedAt ?? null),
    traceparent: call.traceparent,
    createdAt: call.createdAt.toISOString(),
    startedAt: instant(startedAt),
    backgroundedAt: call.backgroundedAt.toISOString(),
    endedAt: instant(endedAt),
    durationMs: startedAt && endedAt && endedAt.getTime() - startedAt.getTime(),
  };
}

function instant(date: Date | null): string | null {
  return date && date.toISOString();
}
