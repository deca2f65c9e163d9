import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsBoolean } from 'class-validator';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { toStorableText } from '../../common/storable-text.js';
import type { Sharing, Transport } from '../mcp-server.js';
import type { McpServerPatch } from '../registration/mcp-server-draft.js';
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

/** null is for the field's own rule to judge. */
@ApiSchema({ name: 'McpServerPatch' })
export class UpdateMcpServerDto {
  @IfGiven()
  @ServerName()
  @ApiProperty({ required: false })
  name?: string;

  @IfGiven()
  @ServerTitle()
  @ApiProperty({ required: false })
  title?: string;

  @IfGiven()
  @ServerTransport()
  @ApiProperty({
    required: false,
    description: 'From http or sse to stdio and back: what the new one needs must be given too',
  })
  transport?: Transport;

  @IfGiven()
  @ServerUrl()
  @ApiProperty({ required: false })
  url?: string;

  @IfGiven()
  @HeaderMap({ isNullable: true })
  @ApiProperty({ description: 'Sets those named, null takes one away, others stay' })
  headers?: Record<string, string | null>;

  @IfGiven()
  @ServerCommand()
  @ApiProperty({ required: false })
  command?: string;

  @IfGiven()
  @ServerArgs()
  @ApiProperty({ required: false, description: 'Takes the place of all that there are' })
  args?: string[];

  @IfGiven()
  @EnvMap({ isNullable: true })
  @ApiProperty({ description: 'Sets those named, null takes one away, others stay' })
  env?: Record<string, string | null>;

  @IfGiven()
  @ServerSharing()
  @ApiProperty({ required: false })
  sharing?: Sharing;

  @IfGiven()
  @ApiProperty({ type: Boolean, required: false })
  @IsBoolean()
  enabled?: boolean;

  toPatch(): McpServerPatch {
    const { title, headers, ...rest } = this;
    const given = Object.entries(rest).filter(([, value]) => value !== undefined);
    return {
      ...Object.fromEntries(given),
      ...(title !== undefined && { title: toStorableText(title) }),
      ...(headers !== undefined && { headers: lowerCased(headers) }),
    };
  }
}
