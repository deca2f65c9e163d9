import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsBoolean, IsIn } from 'class-validator';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { toStorableText } from '../../common/storable-text.js';
import type { McpServerPatch } from '../mcp-server-draft.js';
import { HeaderMap } from './header-map.decorator.js';
import { ServerName, ServerTitle, ServerUrl } from './mcp-server-fields.decorator.js';
import { lowerCased } from './stored-fields.js';

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
  @ApiProperty({ enum: ['http'], enumName: 'Transport', required: false })
  @IsIn(['http'])
  transport?: 'http';

  @IfGiven()
  @ServerUrl()
  @ApiProperty({ required: false })
  url?: string;

  @IfGiven()
  @HeaderMap({ isNullable: true })
  @ApiProperty({ description: 'Sets those named, null takes one away, others stay' })
  headers?: Record<string, string | null>;

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
