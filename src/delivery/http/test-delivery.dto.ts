import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { SendResult } from '../sending/send-outcome.js';

@ApiSchema({ name: 'TestDelivery' })
export class TestDeliveryDto {
  @ApiProperty({ type: Boolean, description: 'Whether the answer was a 2xx' })
  delivered!: boolean;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'HTTP status of the answer; null: there was none',
  })
  status!: number | null;

  @ApiProperty({ type: 'integer', description: 'Milliseconds until it was answered or had failed' })
  durationMs!: number;

  @ApiProperty({ type: String, nullable: true, description: 'What went wrong' })
  error!: string | null;

  static from({ outcome, status, durationMs, error }: SendResult): TestDeliveryDto {
    return { delivered: outcome.kind === 'delivered', status, durationMs, error };
  }
}
