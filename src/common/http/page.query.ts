import { ApiProperty } from '@nestjs/swagger';
import { IsIn, ValidateBy } from 'class-validator';
import { IfGiven } from './if-given.decorator.js';
import { Count, FromText } from './value.decorators.js';
import { decodeCursor, type PageRequest } from '../paging.js';

const PAGE_ORDERS = ['desc', 'asc'] as const;

const IsCursor = (): PropertyDecorator =>
  ValidateBy({
    name: 'isCursor',
    validator: {
      validate: (text) => typeof text === 'string' && decodeCursor(text) !== undefined,
      defaultMessage: () => '$property must be the nextCursor of an earlier page',
    },
  });

/** The query of every list; a list with filters extends it. */
export class PageQuery {
  @ApiProperty({ default: 20, required: false })
  @FromText()
  @Count(1, 100, 'Entries of a page')
  limit: number = 20;

  @ApiProperty({ type: String, required: false, description: '`nextCursor` of the page before' })
  @IfGiven()
  @IsCursor()
  after?: string;

  @ApiProperty({ enum: PAGE_ORDERS, enumName: 'PageOrder', default: 'desc', required: false })
  @IsIn(PAGE_ORDERS)
  order: 'desc' | 'asc' = 'desc';

  toPageRequest(): PageRequest {
    const after = this.after === undefined ? undefined : decodeCursor(this.after);
    return { limit: this.limit, order: this.order, ...(after && { after }) };
  }
}
