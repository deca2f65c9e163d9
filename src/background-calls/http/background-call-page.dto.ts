import { ApiProperty } from '@nestjs/swagger';
import { BackgroundCallSummaryDto } from './background-call.dto.js';

export class BackgroundCallPageDto {
  @ApiProperty({ type: [BackgroundCallSummaryDto] })
  data!: BackgroundCallSummaryDto[];

  @ApiProperty()
  hasMore!: boolean;

  @ApiProperty({ type: String, nullable: true, description: 'For `?after=` of the next request' })
  nextCursor!: string | null;
}
