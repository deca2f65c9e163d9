import { ApiProperty } from '@nestjs/swagger';
import { CALL_ERROR_CODES, type CallErrorCode } from '../../common/call-error-code.js';
import { MESSAGE_STATES, type MessageState } from '../../delivery/message-state.js';

export class CallServerDto {
  @ApiProperty({ example: 'msv_01m8q70cjvf6fa9fk2rwgkr9q0' })
  id!: string;

  @ApiProperty({ example: 'demo' })
  name!: string;

  @ApiProperty({ example: 'Demo' })
  title!: string;
}

export class CallProgressDto {
  @ApiProperty()
  progress!: number;

  @ApiProperty({ type: Number, nullable: true })
  total!: number | null;

  @ApiProperty({ type: String, nullable: true })
  message!: string | null;

  @ApiProperty({ type: String, format: 'date-time' })
  at!: string;
}

/** What of the result is shown; the whole is at `/result`. */
export class CallResultDto {
  @ApiProperty({ description: 'The beginning of the result as text' })
  preview!: string;

  @ApiProperty()
  isError!: boolean;

  @ApiProperty({ type: 'integer', description: 'Size of the whole result as JSON' })
  bytes!: number;

  @ApiProperty({ description: 'Whether the preview leaves something out' })
  truncated!: boolean;
}

export class CallErrorDto {
  @ApiProperty({
    enum: CALL_ERROR_CODES,
    enumName: 'CallErrorCode',
  })
  code!: CallErrorCode;

  @ApiProperty()
  message!: string;
}

export class CallMessageDto {
  @ApiProperty({ example: 'msg_01m8q70cjvf6fa9fk2rwgkr9q0' })
  id!: string;

  @ApiProperty({ enum: MESSAGE_STATES, enumName: 'MessageState' })
  state!: MessageState;

  @ApiProperty({ type: 'integer', description: 'How often it was handed out' })
  attempts!: number;
}
