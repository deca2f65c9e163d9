import { Body, Controller, Get, HttpCode, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Audience } from '../../auth/http/audience.decorator.js';
import { CurrentApp } from '../../auth/http/current-app.decorator.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { CallerGone } from '../../common/http/caller-gone.decorator.js';
import { WaitQuery } from '../../common/http/wait.query.js';
import { CallCanceller } from '../call-canceller.js';
import { CallReader } from '../call-reader.js';
import { isTerminal } from '../call-status.js';
import { InputAnswerer } from '../questions/input-answerer.js';
import { ReadMarker } from '../read-marker.js';
import { AnswerSizePipe } from './answer-size.pipe.js';
import { BackgroundCallDto } from './background-call.dto.js';
import { CallId } from './call-id.decorator.js';
import { CallPresenter } from './call.presenter.js';
import { InputAnswerDto, toInputAnswer } from './input-answer.dto.js';
import { ApiResult, RESULT_DESCRIPTION, sendResult } from './result.answer.js';
import { ResultQuery } from './result.query.js';

@Audience('agent')
@Controller('v1/background-calls/:callId')
export class BackgroundCallsController {
  constructor(
    private readonly reader: CallReader,
    private readonly canceller: CallCanceller,
    private readonly answerer: InputAnswerer,
    private readonly readMarker: ReadMarker,
    private readonly presenter: CallPresenter,
  ) {}

  @Get()
  @ApiOperation({
    operationId: 'getBackgroundCall',
    summary: 'Get a background call',
    description:
      'With `wait` the answer comes when the call has ended, at the latest after `wait`.',
  })
  @ApiOkResponse({ type: BackgroundCallDto })
  @ApiProblems(400, 404, 503)
  async get(
    @CurrentApp() appId: string,
    @CallId() id: string,
    @Query() { wait }: WaitQuery,
    @CallerGone() callerGone: AbortSignal,
  ): Promise<BackgroundCallDto> {
    return this.presenter.present(await this.reader.getWhenEnded(id, appId, wait, callerGone));
  }

  @Get('result')
  @ApiOperation({
    operationId: 'getBackgroundCallResult',
    summary: 'Get the whole result of a background call, or a part of it',
    description: RESULT_DESCRIPTION,
  })
  @ApiResult()
  @ApiProblems(400, 404, 409, 503)
  async result(
    @CurrentApp() appId: string,
    @CallId() id: string,
    @Query() query: ResultQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Buffer> {
    return sendResult(this.reader, { id, appId }, query, reply);
  }

  @Post('mark-read')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'markBackgroundCallRead',
    summary: 'Say that the result was read: it need not be told any more',
    description:
      'Of a call that has ended: if that is in no message yet, it is told in none, and `suppressed` of the ' +
      'call is `already_read`. What is in a message already is delivered, and `suppressed` stays null. ' +
      'Reading a result does not do this by itself. May be repeated. A call that has not ended is a 409 ' +
      '`no_result`.',
  })
  @ApiOkResponse({
    type: BackgroundCallDto,
    description: 'It is marked, or is in a message already',
  })
  @ApiProblems(400, 404, 409, 413, 415, 503)
  async markRead(@CurrentApp() appId: string, @CallId() id: string): Promise<BackgroundCallDto> {
    return this.presenter.present(await this.readMarker.markRead(id, appId));
  }

  @Post('cancel')
  @HttpCode(202)
  @ApiOperation({
    operationId: 'cancelBackgroundCall',
    summary: 'Cancel a background call',
    description:
      '202 while the cancel is carried out: the MCP server is told, then the call ends as ' +
      '`cancelled`, at the latest after 5 s. 200 with the unchanged call when it has ended.',
  })
  @ApiAcceptedResponse({ type: BackgroundCallDto, description: 'The cancel is carried out' })
  @ApiOkResponse({ type: BackgroundCallDto, description: 'It has ended: unchanged' })
  @ApiProblems(400, 404, 413, 415, 503)
  async cancel(
    @CurrentApp() appId: string,
    @CallId() id: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<BackgroundCallDto> {
    const call = await this.canceller.cancel(id, appId);
    if (isTerminal(call.status)) reply.status(200);
    return this.presenter.present(call);
  }

  @Post('input')
  @HttpCode(200)
  @ApiOperation({
    operationId: 'answerBackgroundCall',
    summary: 'Answer what a background call asks',
    description:
      'Of a call that is `input_required`: the answer is kept, passed on to the MCP server, and the call ' +
      'runs again. The same answer given once more changes nothing and is answered with the call as it is. ' +
      'A call that asks nothing, or nothing any more, is a 409 `input_not_required`.',
  })
  @ApiOkResponse({ type: BackgroundCallDto, description: 'It is answered' })
  @ApiProblems(400, 404, 409, 413, 415, 503)
  async answer(
    @CurrentApp() appId: string,
    @CallId() id: string,
    @Body(AnswerSizePipe) body: InputAnswerDto,
  ): Promise<BackgroundCallDto> {
    const given = toInputAnswer(body);
    return this.presenter.present(await this.answerer.answer(id, appId, given, body.sequence));
  }
}
