import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { CallDelivery } from '../../delivery/call-deliveries.repository.js';
import type { BackgroundCall } from '../background-call.js';
import { BackgroundCallSummaryDto, summaryOf } from './background-call-summary.dto.js';

/** A background call, whole. */
@ApiSchema({ name: 'BackgroundCall' })
export class BackgroundCallDto extends BackgroundCallSummaryDto {
  @ApiProperty({ type: 'object', additionalProperties: true, description: 'As sent upstream' })
  arguments!: unknown;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'The policy as resolved for this call; `origins` says who decided each field',
  })
  policy!: object;

  static override from(
    call: BackgroundCall,
    app: string,
    delivery?: CallDelivery,
  ): BackgroundCallDto {
    return Object.assign(new BackgroundCallDto(), summaryOf(call, app, delivery), {
      arguments: JSON.parse(call.arguments) as unknown,
      policy: call.policy,
    });
  }
}
