import { ApiProperty } from '@nestjs/swagger';

/** What every page of a list says beside its `data`. */
export abstract class PageDto {
  @ApiProperty({ type: Boolean })
  hasMore!: boolean;

  @ApiProperty({ type: String, nullable: true, description: 'For `?after=` of the next request' })
  nextCursor!: string | null;
}
