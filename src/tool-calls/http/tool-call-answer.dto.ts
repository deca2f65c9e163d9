import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { BackgroundCallDto } from '../../background-calls/http/background-call.dto.js';

const TOOL_RESULT = {
  type: 'object',
  additionalProperties: true,
  description: 'An MCP CallToolResult that can go straight to the model',
} as const;

/** The call ended while the caller waited. */
@ApiSchema({ name: 'CompletedToolCall' })
export class CompletedToolCallDto {
  @ApiProperty({ enum: ['completed'], description: 'The call has ended' })
  outcome!: 'completed';

  @ApiProperty(TOOL_RESULT)
  result!: object;

  @ApiProperty({ type: 'integer', description: 'Milliseconds since the upstream was asked' })
  durationMs!: number;
}

/** The call goes on in the background; `result` tells the model so. */
@ApiSchema({ name: 'BackgroundToolCall' })
export class BackgroundToolCallDto {
  @ApiProperty({
    enum: ['background'],
    description: 'The call goes on in the background; a message will tell its end',
  })
  outcome!: 'background';

  @ApiProperty({ type: BackgroundCallDto })
  call!: BackgroundCallDto;

  @ApiProperty(TOOL_RESULT)
  result!: object;
}
