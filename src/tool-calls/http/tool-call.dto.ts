import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsObject, IsString, Matches, MaxLength, MinLength } from 'class-validator';
import { CALL_MODES, type CallMode } from '../../common/call-mode.js';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { IsEngineId } from '../../common/http/is-engine-id.decorator.js';
import { Nested } from '../../common/http/nested.decorator.js';
import { Choice, Hours, Seconds } from '../../common/http/value.decorators.js';
import { RawJson } from '../../common/http/raw-json.decorator.js';
import { ON_LIMIT, type OnLimit } from '../../settings/settings-tree.js';

/** What this one call asks for; a tool that an administrator excluded stays in the foreground. */
@ApiSchema({ name: 'BackgroundWish' })
class BackgroundWishDto {
  @Choice(CALL_MODES, 'CallMode', 'When the call moves', { isOptional: true })
  mode?: CallMode;

  @Seconds('Seconds in the foreground before the handover', { isOptional: true })
  autoAfterSec?: number;

  @Hours('Hours in the background before the call fails with `timeout`', { isOptional: true })
  maxHours?: number;

  @Choice(ON_LIMIT, 'OnLimit', 'What the call does when no slot is free', { isOptional: true })
  onLimit?: OnLimit;
}

/** A tool call as the engine asks for it. */
@ApiSchema({ name: 'ToolCall' })
export class ToolCallDto {
  @ApiProperty({ description: 'Name of a registered MCP server', example: 'demo' })
  @IsString()
  @MinLength(1)
  @MaxLength(128)
  server!: string;

  @ApiProperty({
    description: 'Name of the tool as the MCP server tells it',
    example: 'export_report',
  })
  @IsString()
  @MinLength(1)
  @MaxLength(256)
  @Matches(/^[^\p{Cc}]*$/u, { message: '$property must not contain control characters' })
  tool!: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Sent upstream exactly as given. At most 64 levels deep.',
  })
  @IfGiven()
  @IsObject({ message: '$property must be an object' })
  @RawJson()
  arguments?: Record<string, unknown>;

  @ApiProperty({
    type: String,
    required: false,
    description:
      'The turn in which the model makes the call: it is opened, and kept alive while the caller waits. ' +
      'With it, a dropped connection hands the call over in place of cancelling it.',
  })
  @IfGiven()
  @IsEngineId()
  turnId?: string;

  @ApiProperty({ type: String, required: false, description: "The engine's own id of the call" })
  @IfGiven()
  @IsEngineId()
  toolCallId?: string;

  @ApiProperty({
    type: String,
    required: false,
    description: 'The agent that calls: `maxPerAgent` is counted by it',
  })
  @IfGiven()
  @IsEngineId()
  agentId?: string;

  @ApiProperty({
    type: String,
    required: false,
    description: 'The call inside which this one is made: it stays in the foreground.',
  })
  @IfGiven()
  @IsEngineId()
  parentCallId?: string;

  @ApiProperty({ type: BackgroundWishDto, required: false })
  @IfGiven()
  @Nested(() => BackgroundWishDto)
  background?: BackgroundWishDto;
}
