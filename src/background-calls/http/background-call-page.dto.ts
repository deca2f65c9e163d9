import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { PageDto } from '../../common/http/page.dto.js';
import { BackgroundCallSummaryDto } from './background-call-summary.dto.js';

/** One page of a list of background calls. */
@ApiSchema({ name: 'BackgroundCallPage' })
export class BackgroundCallPageDto extends PageDto {
  @ApiProperty({ type: [BackgroundCallSummaryDto] })
  data!: BackgroundCallSummaryDto[];
}
