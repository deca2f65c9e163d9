import { Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { Audience } from '../../auth/http/audience.decorator.js';
import { ApiProblems } from '../../common/http/api-problems.decorator.js';
import { PublicIdPipe } from '../../common/http/public-id.pipe.js';
import { TestDelivery } from '../sending/test-delivery.js';
import { TestDeliveryDto } from './test-delivery.dto.js';

@Controller('admin/v1/apps/:appId/test-delivery')
@Audience('admin')
export class TestDeliveryController {
  constructor(private readonly test: TestDelivery) {}

  @Post()
  @HttpCode(200)
  @ApiOperation({
    summary: "Send a test to an app's webhook",
    description:
      'A signed POST with a body of the kind `test`, which belongs to no session and is not kept. ' +
      'Answers within 15 s.',
  })
  @ApiParam({ name: 'appId', type: String })
  @ApiOkResponse({ type: TestDeliveryDto })
  @ApiProblems(400, 404, 409, 413, 415, 503)
  async testDelivery(
    @Param('appId', new PublicIdPipe('app')) id: string,
  ): Promise<TestDeliveryDto> {
    return TestDeliveryDto.from(await this.test.send(id));
  }
}
