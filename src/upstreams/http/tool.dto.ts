import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { PageDto } from '../../common/http/page.dto.js';
import { CALL_MODES, type CallMode } from '../../common/call-mode.js';
import type { KnownTool, KnownTools } from '../tools/tool.service.js';

const MODE = { enum: CALL_MODES, enumName: 'CallMode' };

@ApiSchema({
  name: 'Tool',
  description: 'A tool as the server tells it, with all of its fields, and its policy.',
})
class ToolDto {
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

@ApiSchema({
  name: 'LeftOutTool',
  description: 'Something in the list of the server that is no tool',
})
class LeftOutToolDto {
  @ApiProperty({ type: String, nullable: true, description: 'Cut at 300 characters' })
  name!: string | null;

  @ApiProperty({ type: String, example: 'its inputSchema is not an object' })
  reason!: string;
}

@ApiSchema({ name: 'ToolList', description: 'The whole list: there is never a next page.' })
export class ToolListDto extends PageDto {
  @ApiProperty({ type: [ToolDto] })
  data!: ToolDto[];

  @ApiProperty({ type: [LeftOutToolDto], description: 'What is told but not offered, and why' })
  leftOut!: LeftOutToolDto[];

  static from({ tools, leftOut }: KnownTools): ToolListDto {
    const data = tools.map((tool) => ToolDto.from(tool));
    return { data, leftOut, hasMore: false, nextCursor: null };
  }
}

@ApiSchema({ name: 'ToolPolicy' })
export class ToolPolicyDto {
  @ApiProperty({ type: String })
  name!: string;

  @ApiProperty(MODE)
  background!: CallMode;
}
