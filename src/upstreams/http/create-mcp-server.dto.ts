import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { toStorableText } from '../../common/storable-text.js';
import type { Sharing, Transport } from '../mcp-server.js';
import type { McpServerDraft } from '../registration/mcp-server-draft.js';
import { EnvMap } from './env-map.decorator.js';
import { HeaderMap } from './header-map.decorator.js';
import { lowerCased } from './lower-cased.js';
import {
  ServerArgs,
  ServerCommand,
  ServerName,
  ServerSharing,
  ServerTitle,
  ServerTransport,
  ServerUrl,
} from './mcp-server-fields.decorator.js';

@ApiSchema({ name: 'NewMcpServer' })
export class CreateMcpServerDto {
  @ServerName()
  name!: string;

  @IfGiven()
  @ServerTitle()
  @ApiProperty({ required: false, description: 'Left out: the name' })
  title?: string;

  @ServerTransport()
  @ApiProperty({
    default: 'http',
    required: false,
    description: 'http and sse need url; stdio needs command',
  })
  transport: Transport = 'http';

  @IfGiven()
  @ServerUrl()
  @ApiProperty({ required: false, description: 'Of http and sse' })
  url?: string;

  @IfGiven()
  @HeaderMap()
  @ApiProperty({
    description: 'Of http and sse: sent with each request to the server; never shown again',
  })
  headers?: Record<string, string>;

  @IfGiven()
  @ServerCommand()
  @ApiProperty({
    required: false,
    description: 'Of stdio: exactly as the operator allows it in BGC_STDIO_COMMANDS',
  })
  command?: string;

  @IfGiven()
  @ServerArgs()
  @ApiProperty({ required: false, description: 'Of stdio: given as they are, no shell reads them' })
  args?: string[];

  @IfGiven()
  @EnvMap()
  @ApiProperty({ description: 'Of stdio: environment variables; never shown again' })
  env?: Record<string, string>;

  @ServerSharing()
  @ApiProperty({
    default: 'shared',
    required: false,
    description:
      'Who uses one connection (one program, for stdio): all calls; those of one session or bot, for ' +
      'servers that keep something in the session; or one call alone, which is closed after it. A ' +
      'server is offered to ask the user something (elicitation) in the last two cases only',
  })
  sharing: Sharing = 'shared';

  @ApiProperty({ type: Boolean, default: true, required: false })
  @IsBoolean()
  enabled: boolean = true;

  toDraft(): McpServerDraft {
    const { name, title = name, headers, ...rest } = this;
    return {
      ...rest,
      name,
      title: toStorableText(title),
      headers: headers && lowerCased(headers),
    };
  }
}
