import { Body, Controller, Get, Patch } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Audience } from '../../auth/http/audience.decorator.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { Settings } from '../settings.js';
import { SettingsDto } from './settings.dto.js';
import { UpdateSettingsDto } from './update-settings.dto.js';

@Controller('admin/v1/settings')
@Audience('admin')
export class SettingsController {
  constructor(private readonly settings: Settings) {}

  @Get()
  @ApiOperation({ summary: 'Read the runtime settings' })
  @ApiOkResponse({ type: SettingsDto })
  getSettings(): SettingsDto {
    return this.settings.current;
  }

  @Patch()
  @ApiOperation({
    summary: 'Change runtime settings',
    description:
      'Merges the given part of the tree. In force on this replica when the answer arrives, on others within a second; for calls that start afterwards.',
  })
  @ApiOkResponse({ type: SettingsDto, description: 'The whole tree as it is now' })
  @ApiProblems(400, 413, 415, 503)
  updateSettings(@Body() patch: UpdateSettingsDto): Promise<SettingsDto> {
    return this.settings.update(patch);
  }
}
