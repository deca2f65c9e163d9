import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'McpServerError' })
export class ServerErrorDto {
  @ApiProperty({ type: String, example: 'upstream_unreachable' })
  code!: string;

  @ApiProperty({ type: String, example: "The upstream can't be reached: connect ECONNREFUSED" })
  message!: string;
}
