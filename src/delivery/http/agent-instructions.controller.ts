import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AppDirectory } from '../../apps/app.directory.js';
import { Audience } from '../../auth/http/audience.decorator.js';
import { CurrentApp } from '../../auth/http/current-app.decorator.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { Settings } from '../../settings/settings.js';
import { agentInstructionsText } from '../texts/agent-instructions-text.js';
import { AgentInstructionsDto } from './agent-instructions.dto.js';
import { AgentInstructionsQuery } from './agent-instructions.query.js';

@Audience('agent')
@Controller('v1/agent-instructions')
export class AgentInstructionsController {
  constructor(
    private readonly apps: AppDirectory,
    private readonly settings: Settings,
  ) {}

  @Get()
  @ApiOkResponse({ type: AgentInstructionsDto })
  @ApiProblems(400)
  @ApiOperation({
    operationId: 'getAgentInstructions',
    summary: 'Get the paragraph for the system prompt of agents',
    description: 'It tells a model what a handed-over call is and how its message is to be read.',
  })
  get(@CurrentApp() appId: string, @Query() query: AgentInstructionsQuery): AgentInstructionsDto {
    const locale =
      query.locale ?? this.apps.localeOf(appId) ?? this.settings.current.messages.locale;
    return { locale, text: agentInstructionsText(locale) };
  }
}
