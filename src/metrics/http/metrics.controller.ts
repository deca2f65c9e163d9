import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Public } from '../../auth/http/public.decorator.js';
import { MetricsRegistry } from '../metrics.registry.js';

const TEXT_FORMAT = 'text/plain; version=0.0.4; charset=utf-8';

/** Without a key, as scrapers expect it; it names MCP servers, and nobody's data. */
@ApiTags('Service')
@Controller()
export class MetricsController {
  constructor(private readonly registry: MetricsRegistry) {}

  @Get('metrics')
  @Public()
  @Header('content-type', TEXT_FORMAT)
  @ApiOkResponse({ content: { 'text/plain': { schema: { type: 'string' } } } })
  @ApiOperation({
    operationId: 'getMetrics',
    summary: 'The figures of this process for Prometheus',
    description:
      'In the text format 0.0.4. Also while the database is away: `bgc_database_up` is 0 then and the ' +
      'figures that are read from it are missing. Not for the internet.',
  })
  metrics(): Promise<string> {
    return this.registry.render();
  }
}
