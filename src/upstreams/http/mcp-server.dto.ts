import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { INSTANT, INSTANT_OR_NULL } from '../../common/http/instant.property.js';
import { PageDto } from '../../common/http/page.dto.js';
import { toPublicId } from '../../common/ids.js';
import type { Page } from '../../common/paging.js';
import { MASK } from '../connections/secret-mask.js';
import {
  type HttpMcpServer,
  type Sharing,
  SHARINGS,
  type StdioMcpServer,
  type Transport,
  TRANSPORTS,
} from '../mcp-server.js';
import type { McpServerRow } from '../registration/mcp-server.row.js';
import type { ServerState } from '../reachability/server-state.js';
import { masked } from './masked-map.decorator.js';
import { ServerErrorDto } from './server-error.dto.js';

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

  @ApiProperty({
    enum: SHARINGS,
    enumName: 'Sharing',
    description: 'Who uses one connection: all calls, those of one session or bot, or one call',
  })
  sharing!: Sharing;

  @ApiProperty({ type: Boolean, description: 'Whether it takes calls: what is wanted' })
  enabled!: boolean;

  @ApiProperty({
    type: Boolean,
    nullable: true,
    description:
      'Whether the last attempt to connect, by whichever replica, came through: what is seen. ' +
      'null: none was made since it was registered or its connection was changed',
  })
  reachable!: boolean | null;

  @ApiProperty({ type: ServerErrorDto, nullable: true, description: 'Why it is not reachable' })
  lastError!: ServerErrorDto | null;

  @ApiProperty({
    ...INSTANT_OR_NULL,
    description: 'When that was seen; an attempt that sees nothing new does not move it',
  })
  lastCheckedAt!: string | null;

  @ApiProperty({
    ...INSTANT_OR_NULL,
    description:
      'When the service tries again by itself. Calls do not wait for it: each tries at once',
  })
  nextTryAt!: string | null;

  @ApiProperty({ ...INSTANT, description: 'When it was registered' })
  createdAt!: string;

  @ApiProperty({ ...INSTANT, description: 'When its registration was last changed' })
  updatedAt!: string;

  static from(row: McpServerRow, state: ServerState | undefined): McpServerDto {
    const { name, title, transport, sharing, enabled } = row;
    const { url = null, headers = {}, command = null, args = [], env = {} } = connectionOf(row);
    return {
      id: toPublicId('msv', row.id),
      ...{ name, title, transport, url, headers, command, args, env },
      sharing,
      enabled,
      ...toSeen(row, state),
      createdAt: row.createdAt.toISOString(),
      updatedAt: row.updatedAt.toISOString(),
    };
  }
}

function toSeen(
  { enabled }: McpServerRow,
  state: ServerState | undefined,
): Pick<McpServerDto, 'reachable' | 'lastError' | 'lastCheckedAt' | 'nextTryAt'> {
  return {
    reachable: state?.reachable ?? null,
    lastError: state?.error ?? null,
    lastCheckedAt: state?.checkedAt.toISOString() ?? null,
    nextTryAt: (enabled && state?.nextTryAt?.toISOString()) || null,
  };
}

/** Values masked, also of those that could not be opened. */
function connectionOf(
  row: McpServerRow,
): Partial<
  Pick<HttpMcpServer, 'url' | 'headers'> & Pick<StdioMcpServer, 'command' | 'args' | 'env'>
> {
  const names = row.unopened?.map(({ name }): [string, string] => [name, MASK]) ?? [];
  const unopened = Object.fromEntries(names);
  return row.transport === 'stdio'
    ? { ...row, env: { ...masked(row.env), ...unopened } }
    : { ...row, headers: { ...masked(row.headers), ...unopened } };
}

@ApiSchema({ name: 'McpServerPage' })
export class McpServerPageDto extends PageDto {
  @ApiProperty({ type: [McpServerDto] })
  data!: McpServerDto[];

  static from(
    { data, hasMore, nextCursor }: Page<McpServerRow>,
    states: ReadonlyMap<string, ServerState>,
  ): McpServerPageDto {
    const servers = data.map((row) => McpServerDto.from(row, states.get(row.id)));
    return { data: servers, hasMore, nextCursor };
  }
}
