import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { FieldError } from '../domain-error.js';
import type { ErrorCode } from '../error-code.js';
import { PROBLEM_KINDS } from './problem-status.js';

@ApiSchema({ name: 'FieldError' })
class FieldErrorDto implements FieldError {
  @ApiProperty({
    description: 'JSON pointer (RFC 6901) into the body, or `?name` for a query parameter',
    example: '/background/autoAfterSec',
    type: String,
  })
  pointer!: string;

  @ApiProperty({ description: 'What is wrong and what is allowed', type: String })
  detail!: string;
}

/** The body of every error answer: RFC 9457, `application/problem+json`. */
@ApiSchema({ name: 'Problem' })
export class ProblemDto {
  @ApiProperty({ type: String, example: 'urn:background-calls:problem:not_found' })
  type!: string;

  @ApiProperty({ type: String, description: 'The same text for the same code' })
  title!: string;

  @ApiProperty({ type: 'integer', example: 404 })
  status!: number;

  @ApiProperty({ type: String, description: 'What went wrong this time' })
  detail!: string;

  @ApiProperty({ type: String, description: 'The path that was asked for' })
  instance!: string;

  @ApiProperty({
    enum: Object.keys(PROBLEM_KINDS),
    enumName: 'ErrorCode',
    description: 'Stable: what a program decides by',
  })
  code!: ErrorCode;

  @ApiProperty({ type: String, description: 'Also in the header `x-request-id` and in the logs' })
  requestId!: string;

  @ApiProperty({ type: [FieldErrorDto], description: 'One entry for each wrong field' })
  errors!: FieldErrorDto[];

  @ApiProperty({
    type: Boolean,
    required: false,
    description: 'The upstream may have done the work although no answer arrived',
  })
  outcomeUnknown?: boolean;
}
