import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { PageDto } from '../../common/http/page.dto.js';
import { CALL_MODES, type CallMode } from '../../common/call-mode.js';
import type { KnownTool } from '../tool.service.js';

const MODE = { enum: CALL_MODES, enumName: 'CallMode' };

@ApiSchema({
  name: 'Tool',
  description: 'A tool as the server tells it, with all of its fields, and its policy.',
})
export class ToolDto {
  [field: string]: unknown;

  @ApiProperty({ type: String })
  name!: string;

  @ApiProperty(MODE)
  background!: CallMode;

  @ApiProperty({ type: Boolean, description: 'Whether the list of the server has it' })
  listed!: boolean;

  static from({ name, background, told }: KnownTool): ToolDto {
    return { ...told, name, background, listed: told !== undefined };
  }
}

@ApiSchema({ name: 'ToolList', description: 'The whole list: there is never a next page.' })
export class ToolListDto extends PageDto {
  @ApiProperty({ type: [ToolDto] })
  data!: ToolDto[];

  static from(tools: readonly KnownTool[]): ToolListDto {
    return { data: tools.map((tool) => ToolDto.from(tool)), hasMore: false, nextCursor: null };
  }
}

@ApiSchema({ name: 'ToolPolicy' })
export class ToolPolicyDto {
  @ApiProperty({ type: String })
  name!: string;

  @ApiProperty(MODE)
  background!: CallMode;
}
