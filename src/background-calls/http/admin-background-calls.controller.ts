import { Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Audience } from '../../auth/http/audience.decorator.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { CallCanceller } from '../call-canceller.js';
import { CallReader } from '../call-reader.js';
import { isTerminal } from '../call-status.js';
import { BackgroundCallPageDto } from './background-call-page.dto.js';
import { BackgroundCallDto } from './background-call.dto.js';
import { BackgroundCallQuery } from './background-call.query.js';
import { CallId } from './call-id.decorator.js';
import { CallPresenter } from './call.presenter.js';
import { ApiResult, RESULT_DESCRIPTION, sendResult } from './result.answer.js';
import { ResultQuery } from './result.query.js';

@Audience('admin')
@Controller('admin/v1/background-calls')
export class AdminBackgroundCallsController {
  constructor(
    private readonly reader: CallReader,
    private readonly canceller: CallCanceller,
    private readonly presenter: CallPresenter,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'adminListBackgroundCalls',
    summary: 'List the background calls of all apps',
  })
  @ApiOkResponse({ type: BackgroundCallPageDto })
  @ApiProblems(400, 503)
  async list(@Query() query: BackgroundCallQuery): Promise<BackgroundCallPageDto> {
    const page = query.toPageRequest();
    const calls = await this.reader.listAll(query.toFilter(), page);
    return this.presenter.presentPage(calls, page.limit);
  }

  @Get(':callId')
  @ApiOperation({ operationId: 'adminGetBackgroundCall', summary: 'Get a background call' })
  @ApiOkResponse({ type: BackgroundCallDto })
  @ApiProblems(400, 404, 503)
  async get(@CallId() id: string): Promise<BackgroundCallDto> {
    return this.presenter.present(await this.reader.get(id, undefined));
  }

  @Get(':callId/result')
  @ApiOperation({
    operationId: 'adminGetBackgroundCallResult',
    summary: 'Get the whole result of a background call, or a part of it',
    description: RESULT_DESCRIPTION,
  })
  @ApiResult()
  @ApiProblems(400, 404, 409, 503)
  async result(
    @CallId() id: string,
    @Query() query: ResultQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    return sendResult(this.reader, { id, appId: undefined }, query, reply);
  }

  @Post(':callId/cancel')
  @HttpCode(202)
  @ApiOperation({
    operationId: 'adminCancelBackgroundCall',
    summary: 'Cancel a background call',
    description:
      '202 while the cancel is carried out; 200 with the unchanged call when it has ended.',
  })
  @ApiAcceptedResponse({ type: BackgroundCallDto, description: 'The cancel is carried out' })
  @ApiOkResponse({ type: BackgroundCallDto, description: 'It has ended: unchanged' })
  @ApiProblems(400, 404, 413, 415, 503)
  async cancel(
    @CallId() id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BackgroundCallDto> {
    const call = await this.canceller.cancel(id, undefined);
    if (isTerminal(call.status)) reply.status(200);
    return this.presenter.present(call);
  }
}
