import { Body, Controller, Headers, HttpCode, Param, Post, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Audience } from '../../auth/http/audience.decorator.js';
import { CurrentApp } from '../../auth/http/current-app.decorator.js';
import { CallPresenter } from '../../background-calls/http/call.presenter.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { CallerGone } from '../../common/http/caller-gone.decorator.js';
import { EngineIdPipe } from '../../common/http/engine-id.pipe.js';
import type { ToolCallAnswer } from '../tool-call.js';
import { ToolCallService } from '../tool-call.service.js';
import { ArgumentsSizePipe } from './arguments-size.pipe.js';
import { BackgroundToolCallDto, CompletedToolCallDto } from './tool-call-answer.dto.js';
import { ToolCallDto } from './tool-call.dto.js';

/** W3C Trace Context, version 00: https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

@Audience('agent')
@Controller('v1/sessions/:sessionId/tool-calls')
export class ToolCallsController {
  constructor(
    private readonly toolCalls: ToolCallService,
    private readonly presenter: CallPresenter,
  ) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    operationId: 'callTool',
    summary: 'Call a tool of an MCP server for a session',
    description:
      '200 with the result when the call ends in time; 202 when it has moved to the background: its ' +
      'end comes as a message. A closed connection cancels the call before it has moved, unless the ' +
      'call named its `turnId`; after the 202 only an explicit cancel ends it.',
  })
  @ApiOkResponse({ type: CompletedToolCallDto, description: 'It ended in time' })
  @ApiAcceptedResponse({
    type: BackgroundToolCallDto,
    description: 'It goes on in the background',
    headers: { Location: { description: 'The path of the call', schema: { type: 'string' } } },
  })
  @ApiProblems(400, 404, 409, 413, 415, 429, 502, 503, 504)
  async call(
    @CurrentApp() appId: string,
    @Param('sessionId', EngineIdPipe) sessionId: string,
    @Body(ArgumentsSizePipe) body: ToolCallDto,
    @Headers('traceparent') traceparent: string | undefined,
    @CallerGone() callerGone: AbortSignal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CompletedToolCallDto | BackgroundToolCallDto> {
    const { server, tool, turnId, toolCallId, agentId, parentCallId } = body;
    const request = {
      ...{ appId, address: { type: 'session' as const, sessionId } },
      ...{ server, tool, arguments: body.arguments ?? {} },
      ...{ turnId, toolCallId, agentId, parentCallId, wish: body.background ?? {} },
      traceparent: traceparent && TRACEPARENT.test(traceparent) ? traceparent : undefined,
    };
    return this.present(await this.toolCalls.call(request, callerGone), reply);
  }

  private present(
    answer: ToolCallAnswer,
    reply: FastifyReply,
  ): CompletedToolCallDto | BackgroundToolCallDto {
    if (answer.outcome === 'completed') return answer;
    const call = this.presenter.presentRunning(answer.call);
    reply.status(202).header('location', `/v1/background-calls/${call.id}`);
    return { ...answer, call };
  }
}
