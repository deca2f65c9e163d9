import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { Audience } from '../../auth/http/audience.decorator.js';
import { CurrentApp } from '../../auth/http/current-app.decorator.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { EngineIdPipe } from '../../common/http/engine-id.pipe.js';
import { Ids } from '../../common/ids.js';
import type { TargetAddress } from '../target-address.js';
import { TurnService } from '../turn.service.js';
import { EndTurnBody, StartTurnBody, TurnDto } from './turn.dto.js';

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
  @ApiOperation({ operationId: 'startTurn', summary: 'Begin a turn, in place of an older one' })
  async start(
    @CurrentApp() appId: string,
    @Param('sessionId', EngineIdPipe) sessionId: string,
    @Body() body: StartTurnBody,
  ): Promise<TurnDto> {
    const turnId = body.turnId ?? this.ids.uuid();
    const state = await this.turns.start(appId, session(sessionId), turnId);
    return TurnDto.of(turnId, state === 'running');
  }

  @Post(':turnId/end')
  @HttpCode(200)
  @ApiOkResponse({ type: TurnDto })
  @ApiParam({ name: 'turnId', type: String })
  @ApiOperation({
    operationId: 'endTurn',
    summary: 'End a turn; when it is not the running one, that one goes on',
  })
  async end(
    @CurrentApp() appId: string,
    @Param('sessionId', EngineIdPipe) sessionId: string,
    @Param('turnId', EngineIdPipe) turnId: string,
    @Body() body: EndTurnBody,
  ): Promise<TurnDto> {
    await this.turns.end(appId, session(sessionId), turnId, body.interrupted);
    return TurnDto.of(turnId, false);
  }

  @Post(':turnId/touch')
  @HttpCode(200)
  @ApiOkResponse({ type: TurnDto })
  @ApiParam({ name: 'turnId', type: String })
  @ApiOperation({ operationId: 'touchTurn', summary: 'Say that the running turn lives' })
  async touch(
    @CurrentApp() appId: string,
    @Param('sessionId', EngineIdPipe) sessionId: string,
    @Param('turnId', EngineIdPipe) turnId: string,
  ): Promise<TurnDto> {
    return TurnDto.of(turnId, await this.turns.touch(appId, session(sessionId), turnId));
  }
}

function session(sessionId: string): TargetAddress {
  return { type: 'session', sessionId };
}
