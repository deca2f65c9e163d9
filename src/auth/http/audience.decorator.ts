import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import type { Audience as AudienceName } from '../api-key.js';

export const AUDIENCE_METADATA = 'auth:audience';

const TAGS: Readonly<Record<AudienceName, string>> = { agent: 'Agent', bot: 'Bot', admin: 'Admin' };

/** Whose keys may use the routes of a controller. A route without it is closed to every key. */
export function Audience(audience: AudienceName): ClassDecorator & MethodDecorator {
  return applyDecorators(
    SetMetadata(AUDIENCE_METADATA, audience),
    ApiBearerAuth(),
    ApiTags(TAGS[audience]),
    ApiProblems(401, 403),
  );
}
