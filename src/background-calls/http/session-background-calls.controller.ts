import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Audience } from '../../auth/http/audience.decorator.js';
import { CurrentApp } from '../../auth/http/current-app.decorator.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { EngineIdPipe } from '../../common/http/engine-id.pipe.js';
import { CallReader } from '../call-reader.js';
import { BackgroundCallPageDto } from './background-call-page.dto.js';
import { BackgroundCallQuery } from './background-call.query.js';
import { CallPresenter } from './call.presenter.js';

@Audience('agent')
@Controller('v1/sessions/:sessionId/background-calls')
export class SessionBackgroundCallsController {
  constructor(
    private readonly reader: CallReader,
    private readonly presenter: CallPresenter,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'listSessionBackgroundCalls',
    summary: 'List the background calls of a session',
    description: 'Newest first. An unknown session has an empty list.',
  })
  @ApiOkResponse({ type: BackgroundCallPageDto })
  @ApiProblems(400, 404, 503)
  async list(
    @CurrentApp() appId: string,
    @Param('sessionId', EngineIdPipe) sessionId: string,
    @Query() query: BackgroundCallQuery,
  ): Promise<BackgroundCallPageDto> {
    const page = query.toPageRequest();
    const address = { type: 'session' as const, sessionId };
    const calls = await this.reader.listOfTarget(appId, address, query.toFilter(), page);
    return this.presenter.presentPage(calls, page.limit);
  }
}
