import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { IsEngineId } from '../../common/http/is-engine-id.decorator.js';
import { PageQuery } from '../../common/http/page.query.js';
import { Several } from '../../common/http/several.decorator.js';
import {
  CALL_DELIVERY_STATES,
  type CallDeliveryState,
} from '../../delivery/call-delivery-state.js';
import type { CallFilter } from '../call-list.repository.js';
import { CALL_STATUSES, type CallStatus } from '../call-status.js';

/** The filters of a list of background calls. */
export class BackgroundCallQuery extends PageQuery {
  @ApiProperty({
    enum: CALL_STATUSES,
    enumName: 'CallStatus',
    isArray: true,
    required: false,
    description: 'Repeated or comma-separated',
  })
  @IfGiven()
  @Several()
  @IsIn(CALL_STATUSES, { each: true })
  status?: CallStatus[];

  @ApiProperty({ type: [String], required: false, description: 'Names of MCP servers' })
  @IfGiven()
  @Several()
  @Matches(/^[a-z0-9-]{1,63}$/, { each: true, message: '$property must be names of MCP servers' })
  server?: string[];

  @ApiProperty({ type: [String], required: false })
  @IfGiven()
  @Several()
  @IsString({ each: true })
  @MaxLength(256, { each: true })
  @Matches(/^[^\0]*$/, { each: true, message: '$property must not contain NUL' })
  tool?: string[];

  @ApiProperty({ type: [String], required: false })
  @IfGiven()
  @Several()
  @IsEngineId({ each: true })
  turnId?: string[];

  @ApiProperty({
    enum: CALL_DELIVERY_STATES,
    enumName: 'CallDeliveryState',
    isArray: true,
    required: false,
    description: 'Ended calls alone: by what became of telling that they have ended',
  })
  @IfGiven()
  @Several()
  @IsIn(CALL_DELIVERY_STATES, { each: true })
  delivery?: CallDeliveryState[];

  toFilter(): CallFilter {
    return {
      ...(this.status && { statuses: this.status }),
      ...(this.server && { servers: this.server }),
      ...(this.tool && { tools: this.tool }),
      ...(this.turnId && { turnIds: this.turnId }),
      ...(this.delivery && { deliveries: this.delivery }),
    };
  }
}
