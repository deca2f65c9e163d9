import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Patch,
  Post,
  Query,
  Res,
} from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
} from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Audience } from '../../auth/http/audience.decorator.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { PageQuery } from '../../common/http/page.query.js';
import { PublicIdPipe } from '../../common/http/public-id.pipe.js';
import type { McpServerRow } from '../registration/mcp-server.row.js';
import { McpServerService } from '../registration/mcp-server.service.js';
import { ServerStates } from '../reachability/server-states.js';
import { ServerTester } from '../reachability/server-tester.js';
import { CreateMcpServerDto } from './create-mcp-server.dto.js';
import { McpServerDto, McpServerPageDto } from './mcp-server.dto.js';
import { ServerTestDto } from './server-test.dto.js';
import { UpdateMcpServerDto } from './update-mcp-server.dto.js';

const serverId = new PublicIdPipe('msv');
const ApiServerId = (): MethodDecorator => ApiParam({ name: 'serverId', type: String });

@Controller('admin/v1/mcp-servers')
@Audience('admin')
export class McpServersController {
  constructor(
    private readonly servers: McpServerService,
    private readonly states: ServerStates,
    private readonly tester: ServerTester,
  ) {}

  @Post()
  @ApiOperation({
    summary: 'Register an MCP server',
    description: 'Succeeds while the server is down: it is connected to when it is needed.',
  })
  @ApiCreatedResponse({ type: McpServerDto, headers: { Location: { schema: { type: 'string' } } } })
  @ApiProblems(400, 409, 413, 415, 503)
  async createMcpServer(
    @Body() body: CreateMcpServerDto,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<McpServerDto> {
    const server = await this.shown(await this.servers.create(body.toDraft()));
    void reply.header('location', `/admin/v1/mcp-servers/${server.id}`);
    return server;
  }

  @Get()
  @ApiOperation({ summary: 'List the MCP servers' })
  @ApiOkResponse({ type: McpServerPageDto })
  @ApiProblems(400, 503)
  async listMcpServers(@Query() query: PageQuery): Promise<McpServerPageDto> {
    const page = await this.servers.list(query.toPageRequest());
    const states = await this.states.read(page.data.map(({ id }) => id));
    return McpServerPageDto.from(page, states);
  }

  @Get(':serverId')
  @ApiOperation({ summary: 'Read an MCP server' })
  @ApiServerId()
  @ApiOkResponse({ type: McpServerDto })
  @ApiProblems(400, 404, 503)
  async getMcpServer(@Param('serverId', serverId) id: string): Promise<McpServerDto> {
    return this.shown(await this.servers.get(id));
  }

  @Patch(':serverId')
  @ApiOperation({
    summary: 'Change an MCP server',
    description:
      'In force on this replica when the answer arrives. Calls in flight go on as they are.',
  })
  @ApiServerId()
  @ApiOkResponse({ type: McpServerDto })
  @ApiProblems(400, 404, 409, 413, 415, 503)
  async updateMcpServer(
    @Param('serverId', serverId) id: string,
    @Body() body: UpdateMcpServerDto,
  ): Promise<McpServerDto> {
    return this.shown(await this.servers.update(id, body.toPatch()));
  }

  @Delete(':serverId')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Remove an MCP server',
    description: 'What was said about its tools goes with it. Calls in flight go on.',
  })
  @ApiServerId()
  @ApiNoContentResponse()
  @ApiProblems(400, 404, 413, 415, 503)
  async deleteMcpServer(@Param('serverId', serverId) id: string): Promise<void> {
    await this.servers.remove(id);
  }

  @Post(':serverId/test')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Test an MCP server',
    description:
      'Connects anew with what is stored, lists the tools and closes, within 15 s; a disabled server too.',
  })
  @ApiServerId()
  @ApiOkResponse({ type: ServerTestDto })
  @ApiProblems(400, 404, 413, 415, 503)
  async testMcpServer(@Param('serverId', serverId) id: string): Promise<ServerTestDto> {
    return ServerTestDto.from(await this.tester.test(id));
  }

  private async shown(row: McpServerRow): Promise<McpServerDto> {
    return McpServerDto.from(row, (await this.states.read([row.id])).get(row.id));
  }
}
