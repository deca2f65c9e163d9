import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsBoolean, IsIn } from 'class-validator';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import type { McpServerDraft } from '../mcp-server-draft.js';
import { HeaderMap } from './header-map.decorator.js';
import { ServerName, ServerTitle, ServerUrl } from './mcp-server-fields.decorator.js';
import { toStoredFields } from './stored-fields.js';

@ApiSchema({ name: 'NewMcpServer' })
export class CreateMcpServerDto {
  @ServerName()
  name!: string;

  @IfGiven()
  @ServerTitle()
  @ApiProperty({ required: false, description: 'Left out: the name' })
  title?: string;

  @ApiProperty({ enum: ['http'], enumName: 'Transport', default: 'http', required: false })
  @IsIn(['http'])
  transport: 'http' = 'http' as const;

  @ServerUrl()
  url!: string;

  @HeaderMap()
  @ApiProperty({ description: 'Sent with each request to the server; never shown again' })
  headers: Record<string, string> = {};

  @ApiProperty({ type: Boolean, default: true, required: false })
  @IsBoolean()
  enabled: boolean = true;

  toDraft(): McpServerDraft {
    const { name, title = name, transport, url, headers, enabled } = this;
    return { name, transport, url, enabled, ...toStoredFields({ title, headers }) };
  }
}
