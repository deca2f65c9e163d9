import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import {
  IsIn,
  IsNumber,
  IsObject,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
} from 'class-validator';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { IsEngineId } from '../../common/http/is-engine-id.decorator.js';
import { Nested } from '../../common/http/nested.decorator.js';
import { RawJson } from '../../common/http/raw-json.decorator.js';

const MOST_HOURS = 596;
const MOST_SECONDS = MOST_HOURS * 3_600;
const LEAST_SECONDS = 0.05;
const LEAST_HOURS = LEAST_SECONDS / 3_600;

/** What this one call asks for; a tool that an administrator excluded stays in the foreground. */
export class BackgroundWishDto {
  @ApiProperty({ enum: ['auto', 'always', 'never'], enumName: 'CallMode', required: false })
  @IfGiven()
  @IsIn(['auto', 'always', 'never'])
  mode?: 'auto' | 'always' | 'never';

  @ApiProperty({
    type: Number,
    required: false,
    minimum: LEAST_SECONDS,
    maximum: MOST_SECONDS,
    description: 'Seconds in the foreground before the handover',
  })
  @IfGiven()
  @IsNumber()
  @Min(LEAST_SECONDS)
  @Max(MOST_SECONDS)
  autoAfterSec?: number;

  @ApiProperty({
    type: Number,
    required: false,
    minimum: 0,
    maximum: MOST_HOURS,
    description: 'More than 0: hours in the background before the call fails with `timeout`',
  })
  @IfGiven()
  @IsNumber()
  @Min(LEAST_HOURS)
  @Max(MOST_HOURS)
  maxHours?: number;

  @ApiProperty({ enum: ['wait', 'reject'], enumName: 'OnLimit', required: false })
  @IfGiven()
  @IsIn(['wait', 'reject'])
  onLimit?: 'wait' | 'reject';
}

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

  @ApiProperty({ type: String, required: false })
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
