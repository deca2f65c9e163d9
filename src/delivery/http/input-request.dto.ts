import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { INSTANT_OR_NULL } from '../../common/http/instant.property.js';

/** What the MCP server wants to know in the middle of a call. */
@ApiSchema({ name: 'InputRequest' })
export class InputRequestDto {
  @ApiProperty({
    type: 'integer',
    minimum: 1,
    description: 'The number of the question within its call',
  })
  sequence!: number;

  @ApiProperty({ type: String, example: 'Which quarter?' })
  message!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: "JSON Schema of the answer's `content`, as the MCP server sent it",
    example: {
      type: 'object',
      properties: { quarter: { type: 'string', enum: ['Q1', 'Q2'] }, draft: { type: 'boolean' } },
      required: ['quarter'],
    },
  })
  schema!: Record<string, unknown>;

  @ApiProperty({
    ...INSTANT_OR_NULL,
    description:
      'When the call fails with `timeout` if nobody has answered: the deadline of the call',
  })
  deadlineAt!: string | null;
}
