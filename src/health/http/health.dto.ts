import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'Health' })
export class HealthDto {
  @ApiProperty({ enum: ['ok'], description: 'Anything else is a problem' })
  status: 'ok' = 'ok' as const;
}
