import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { Audience } from '../../auth/http/audience.decorator.js';
import { CurrentApp } from '../../auth/http/current-app.decorator.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { EngineIdPipe } from '../../common/http/engine-id.pipe.js';
import { Ids } from '../../common/ids.js';
import type { TargetAddress } from '../target-address.js';
import { TurnService } from '../turn.service.js';
import { EndTurnDto } from './end-turn.dto.js';
import { StartTurnDto } from './start-turn.dto.js';
import { TurnDto } from './turn.dto.js';

/** Turns of sessions; unknown sessions and turns are fine, nothing needs registration. */
@Audience('agent')
@Controller('v1/sessions/:sessionId/turns')
@ApiParam({ name: 'sessionId', type: String })
@ApiProblems(400, 404, 503)
export class TurnsController {
  constructor(
    private readonly turns: TurnService,
    private readonly ids: Ids,
  ) {}

  @Post()
  @HttpCode(200)
  @ApiOkResponse({ type: TurnDto })
  @ApiBody({ type: StartTurnDto, required: false })
  @ApiProblems(413, 415)
  @ApiOperation({
    operationId: 'startTurn',
    summary: 'Begin a turn, in place of an older one',
    description:
      'While a turn runs, no message is handed out to its session. A tool call with `turnId` begins the ' +
      'turn as well. A turn without a sign of life for `turns.idleTimeoutSec` is taken as ended.',
  })
  async start(
    @CurrentApp() appId: string,
    @Param('sessionId', EngineIdPipe) sessionId: string,
    @Body() body: StartTurnDto,
  ): Promise<TurnDto> {
    const turnId = body.turnId ?? this.ids.uuid();
    const state = await this.turns.start(appId, session(sessionId), turnId);
    return TurnDto.from(turnId, state === 'running');
  }

  @Post(':turnId/end')
  @HttpCode(200)
  @ApiOkResponse({ type: TurnDto })
  @ApiParam({ name: 'turnId', type: String })
  @ApiBody({ type: EndTurnDto, required: false })
  @ApiProblems(413, 415)
  @ApiOperation({
    operationId: 'endTurn',
    summary: 'End a turn; when it is not the running one, that one goes on',
    description:
      'What the session is to be told goes out now. An ended id never begins again. With `interrupted` ' +
      'the foreground calls of the turn are cancelled; its background calls go on.',
  })
  async end(
    @CurrentApp() appId: string,
    @Param('sessionId', EngineIdPipe) sessionId: string,
    @Param('turnId', EngineIdPipe) turnId: string,
    @Body() body: EndTurnDto,
  ): Promise<TurnDto> {
    await this.turns.end(appId, session(sessionId), turnId, body.interrupted);
    return TurnDto.from(turnId, false);
  }

  @Post(':turnId/touch')
  @ApiProblems(413, 415)
  @HttpCode(200)
  @ApiOkResponse({ type: TurnDto })
  @ApiParam({ name: 'turnId', type: String })
  @ApiOperation({
    operationId: 'touchTurn',
    summary: 'Say that the running turn lives',
    description: 'For a turn that works for long without a tool call; begins nothing.',
  })
  async touch(
    @CurrentApp() appId: string,
    @Param('sessionId', EngineIdPipe) sessionId: string,
    @Param('turnId', EngineIdPipe) turnId: string,
  ): Promise<TurnDto> {
    return TurnDto.from(turnId, await this.turns.touch(appId, session(sessionId), turnId));
  }
}

function session(sessionId: string): TargetAddress {
  return { type: 'session', sessionId };
}
