import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Public } from '../../auth/http/public.decorator.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { Readiness } from '../readiness.js';
import { HealthDto } from './health.dto.js';

/** Open to everybody, without a key: they tell nothing of anybody's data. */
@ApiTags('Service')
@Controller()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  @Get('healthz')
  @Public()
  @ApiOkResponse({ type: HealthDto })
  @ApiOperation({
    operationId: 'getHealth',
    summary: 'Whether the process lives',
    description: 'For the supervisor that would restart it: also while the database is away.',
  })
  health(): HealthDto {
    return new HealthDto();
  }

  @Get('readyz')
  @Public()
  @ApiOkResponse({ type: HealthDto })
  @ApiProblems(503)
  @ApiOperation({
    operationId: 'getReadiness',
    summary: 'Whether requests should be sent here',
    description:
      'For the load balancer: 503 within a second while the database does not answer, and at once when ' +
      'the process was told to leave.',
  })
  async ready(): Promise<HealthDto> {
    await this.readiness.assertReady();
    return new HealthDto();
  }
}
