import { Body, Controller, Get, Param, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { Audience } from '../../auth/http/audience.decorator.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { PublicIdPipe } from '../../common/http/public-id.pipe.js';
import { ToolService } from '../tools/tool.service.js';
import { ToolNamePipe } from './tool-name.pipe.js';
import { ToolListDto, ToolPolicyDto } from './tool.dto.js';
import { UpdateToolDto } from './update-tool.dto.js';

const serverId = new PublicIdPipe('msv');

@Controller('admin/v1/mcp-servers/:serverId/tools')
@Audience('admin')
export class ToolsController {
  constructor(private readonly tools: ToolService) {}

  @Get()
  @ApiOperation({
    summary: 'List the tools of an MCP server',
    description:
      'Asks the server, all pages. Tools that have a policy but are not in its list come last. A broken tool is left out alone, and named.',
  })
  @ApiParam({ name: 'serverId', type: String })
  @ApiOkResponse({ type: ToolListDto })
  @ApiProblems(400, 404, 502, 503)
  async listTools(@Param('serverId', serverId) id: string): Promise<ToolListDto> {
    return ToolListDto.from(await this.tools.list(id));
  }

  @Patch(':tool')
  @ApiOperation({
    summary: 'Say whether calls of a tool may move to the background',
    description: 'Works while the server is down, and for tools that it does not have yet.',
  })
  @ApiParam({ name: 'serverId', type: String })
  @ApiParam({ name: 'tool', type: String, description: 'Its name, percent-encoded' })
  @ApiOkResponse({ type: ToolPolicyDto })
  @ApiProblems(400, 404, 413, 415, 503)
  async updateTool(
    @Param('serverId', serverId) id: string,
    @Param('tool', ToolNamePipe) name: string,
    @Body() { background }: UpdateToolDto,
  ): Promise<ToolPolicyDto> {
    await this.tools.setMode(id, name, background);
    return { name, background };
  }
}
