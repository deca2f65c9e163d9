import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { CALL_ERROR_CODES, type CallErrorCode } from '../../common/call-error-code.js';
import { INSTANT } from '../../common/http/instant.property.js';
import type { ResultSummary } from '../background-call.js';
import { MESSAGE_STATES, type MessageState } from '../../delivery/message-state.js';

@ApiSchema({ name: 'CallServer' })
export class CallServerDto {
  @ApiProperty({ example: 'msv_01m8q70cjvf6fa9fk2rwgkr9q0' })
  id!: string;

  @ApiProperty({ example: 'demo' })
  name!: string;

  @ApiProperty({ example: 'Demo' })
  title!: string;
}

@ApiSchema({ name: 'CallProgress' })
export class CallProgressDto {
  @ApiProperty({ description: 'As the MCP server counts it' })
  progress!: number;

  @ApiProperty({ type: Number, nullable: true, description: 'What `progress` is on its way to' })
  total!: number | null;

  @ApiProperty({ type: String, nullable: true })
  message!: string | null;

  @ApiProperty({ ...INSTANT, description: 'When it arrived' })
  at!: string;
}

/** What of the result is shown; the whole is at `/result`. */
@ApiSchema({ name: 'CallResult' })
export class CallResultDto {
  @ApiProperty({ description: 'The beginning of the result as text' })
  preview!: string;

  @ApiProperty({ description: 'Whether the tool itself reported a failure' })
  isError!: boolean;

  @ApiProperty({
    type: 'integer',
    description:
      'Bytes of the whole result as JSON; of one that was too long to be received whole, what had come of it',
  })
  bytes!: number;

  @ApiProperty({
    type: String,
    nullable: true,
    description:
      'Path within the workspace of the session or team. A result whose preview leaves something out, ' +
      'or that has more than text, becomes files, one of each part: this is the one of its first text, ' +
      'or else of its first part. Null: it is no file, or the workspace could not be written',
    example: '.agent/mcp/bgc_01m8q70cjvf6fa9fk2rwgkr9q0.txt',
  })
  file!: string | null;

  @ApiProperty({ description: 'Whether the preview leaves something out' })
  truncated!: boolean;

  static from({ preview, isError, bytes, files, truncated }: ResultSummary): CallResultDto {
    return { preview, isError, bytes, file: files?.main ?? null, truncated };
  }
}

@ApiSchema({ name: 'CallError' })
export class CallErrorDto {
  @ApiProperty({
    enum: CALL_ERROR_CODES,
    enumName: 'CallErrorCode',
  })
  code!: CallErrorCode;

  @ApiProperty({ description: 'For people; not to be parsed' })
  message!: string;
}

@ApiSchema({ name: 'CallMessage' })
export class CallMessageDto {
  @ApiProperty({ example: 'msg_01m8q70cjvf6fa9fk2rwgkr9q0' })
  id!: string;

  @ApiProperty({ enum: MESSAGE_STATES, enumName: 'MessageState' })
  state!: MessageState;

  @ApiProperty({ type: 'integer', description: 'How often it was handed out' })
  attempts!: number;
}
