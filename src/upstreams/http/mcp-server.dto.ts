import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { PageDto } from '../../common/http/page.dto.js';
import { toPublicId } from '../../common/ids.js';
import type { Page } from '../../common/paging.js';
import {
  type HttpMcpServer,
  type StdioMcpServer,
  type Transport,
  TRANSPORTS,
} from '../mcp-server.js';
import type { McpServerRow } from '../mcp-server.row.js';
import { MASK, masked } from './masked-map.decorator.js';

@ApiSchema({ name: 'McpServer' })
export class McpServerDto {
  @ApiProperty({ type: String, example: 'msv_01h455vb4pex5vsknk084sn02q' })
  id!: string;

  @ApiProperty({ type: String, description: 'What a tool call names it by' })
  name!: string;

  @ApiProperty({ type: String, description: 'What people and models read' })
  title!: string;

  @ApiProperty({ enum: TRANSPORTS, enumName: 'Transport' })
  transport!: Transport;

  @ApiProperty({ type: String, format: 'uri', nullable: true, description: 'null for stdio' })
  url!: string | null;

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Names as they are, values masked',
    example: { authorization: MASK },
  })
  headers!: Record<string, string>;

  @ApiProperty({ type: String, nullable: true, description: 'null for http and sse' })
  command!: string | null;

  @ApiProperty({ type: [String] })
  args!: string[];

  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: 'Names as they are, values masked',
    example: { API_TOKEN: MASK },
  })
  env!: Record<string, string>;

  @ApiProperty({ type: Boolean, description: 'Whether it takes calls' })
  enabled!: boolean;

  @ApiProperty({ type: String, format: 'date-time' })
  createdAt!: string;

  @ApiProperty({ type: String, format: 'date-time' })
  updatedAt!: string;

  static from(row: McpServerRow): McpServerDto {
    const { name, title, transport, enabled } = row;
    const { url = null, headers = {}, command = null, args = [], env = {} } = connectionOf(row);
    return {
      id: toPublicId('msv', row.id),
      ...{ name, title, transport, url, headers: masked(headers), command, args, env: masked(env) },
      enabled,
      createdAt: row.createdAt.toISOString(),
      updatedAt: row.updatedAt.toISOString(),
    };
  }
}

function connectionOf(
  row: McpServerRow,
): Partial<
  Pick<HttpMcpServer, 'url' | 'headers'> & Pick<StdioMcpServer, 'command' | 'args' | 'env'>
> {
  return row;
}

@ApiSchema({ name: 'McpServerPage' })
export class McpServerPageDto extends PageDto {
  @ApiProperty({ type: [McpServerDto] })
  data!: McpServerDto[];

  static from({ data, hasMore, nextCursor }: Page<McpServerRow>): McpServerPageDto {
    return { data: data.map((row) => McpServerDto.from(row)), hasMore, nextCursor };
  }
}
