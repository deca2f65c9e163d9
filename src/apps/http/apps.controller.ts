import { Body, Controller, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { Audience } from '../../auth/http/audience.decorator.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { PageQuery } from '../../common/http/page.query.js';
import { PublicIdPipe } from '../../common/http/public-id.pipe.js';
import { AppService } from '../app.service.js';
import { AppDto, AppPageDto } from './app.dto.js';
import { UpdateAppDto } from './update-app.dto.js';

const appId = new PublicIdPipe('app');

@Controller('admin/v1/apps')
@Audience('admin')
export class AppsController {
  constructor(private readonly apps: AppService) {}

  @Get()
  @ApiOperation({ summary: 'List the apps' })
  @ApiOkResponse({ type: AppPageDto })
  @ApiProblems(400, 503)
  async listApps(@Query() query: PageQuery): Promise<AppPageDto> {
    return AppPageDto.from(await this.apps.list(query.toPageRequest()));
  }

  @Get(':appId')
  @ApiOperation({ summary: 'Read an app' })
  @ApiParam({ name: 'appId', type: String })
  @ApiOkResponse({ type: AppDto })
  @ApiProblems(400, 404, 503)
  async getApp(@Param('appId', appId) id: string): Promise<AppDto> {
    return AppDto.from(await this.apps.get(id));
  }

  @Patch(':appId')
  @ApiOperation({
    summary: 'Change an app: its language, how its messages go out, and which events it is sent',
    description:
      'A webhook that has no secret yet gets one, which this answer alone shows. A change of the mode or ' +
      'of the URL makes messages that wait for another try due at once. The name stays: keys and ' +
      'workspaces go by it.',
  })
  @ApiParam({ name: 'appId', type: String })
  @ApiOkResponse({ type: AppDto })
  @ApiProblems(400, 404, 413, 415, 503)
  async updateApp(@Param('appId', appId) id: string, @Body() body: UpdateAppDto): Promise<AppDto> {
    return AppDto.fromChange(await this.apps.update(id, body.toPatch()));
  }

  @Post(':appId/rotate-webhook-secret')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Give the webhook of an app a new secret',
    description:
      'This answer alone shows it. For 24 hours each webhook carries two signatures, the second by the ' +
      'secret before. Another rotation within that time ends the one before that at once.',
  })
  @ApiParam({ name: 'appId', type: String })
  @ApiOkResponse({ type: AppDto })
  @ApiProblems(400, 404, 413, 415, 503)
  async rotateWebhookSecret(@Param('appId', appId) id: string): Promise<AppDto> {
    return AppDto.fromChange(await this.apps.rotateSecret(id));
  }
}
