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
import { McpServerService } from '../mcp-server.service.js';
import { CreateMcpServerDto } from './create-mcp-server.dto.js';
import { McpServerDto, McpServerPageDto } from './mcp-server.dto.js';
import { UpdateMcpServerDto } from './update-mcp-server.dto.js';

const serverId = new PublicIdPipe('msv');
const ApiServerId = (): MethodDecorator => ApiParam({ name: 'serverId', type: String });

@Controller('admin/v1/mcp-servers')
@Audience('admin')
export class McpServersController {
  constructor(private readonly servers: McpServerService) {}

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
    const server = McpServerDto.from(await this.servers.create(body.toDraft()));
    void reply.header('location', `/admin/v1/mcp-servers/${server.id}`);
    return server;
  }

  @Get()
  @ApiOperation({ summary: 'List the MCP servers' })
  @ApiOkResponse({ type: McpServerPageDto })
  @ApiProblems(400, 503)
  async listMcpServers(@Query() query: PageQuery): Promise<McpServerPageDto> {
    return McpServerPageDto.from(await this.servers.list(query.toPageRequest()));
  }

  @Get(':serverId')
  @ApiOperation({ summary: 'Read an MCP server' })
  @ApiServerId()
  @ApiOkResponse({ type: McpServerDto })
  @ApiProblems(400, 404, 503)
  async getMcpServer(@Param('serverId', serverId) id: string): Promise<McpServerDto> {
    return McpServerDto.from(await this.servers.get(id));
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
    return McpServerDto.from(await this.servers.update(id, body.toPatch()));
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
}
