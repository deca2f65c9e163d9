import { ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { IsObject } from 'class-validator';
import { InvalidRequestError } from '../../common/domain-error.js';
import { IfGiven } from '../../common/http/if-given.decorator.js';
import { RawJson } from '../../common/http/raw-json.decorator.js';
import { Choice, Count } from '../../common/http/value.decorators.js';
import type { InputAnswer } from '../questions/input-request.js';

const ACTIONS = ['accept', 'decline', 'cancel'] as const;
const MAX_SEQUENCE = 2_147_483_647;

/** The answer to what a call asks. */
@ApiSchema({ name: 'InputAnswer' })
export class InputAnswerDto {
  @Choice(
    ACTIONS,
    'InputAction',
    'Whether the question is answered, refused, or closed without a choice',
  )
  action!: InputAnswer['action'];

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description:
      'With `accept` alone: the answer, which must fit `inputRequest.schema`. It reaches the MCP server ' +
      'exactly as given. Left out it is an empty object. A schema that cannot be used takes any object.',
    example: { quarter: 'Q1', draft: false },
  })
  @IfGiven()
  @IsObject({ message: '$property must be an object' })
  @RawJson()
  content?: Record<string, unknown>;

  @Count(
    1,
    MAX_SEQUENCE,
    'The `inputRequest.sequence` of the question that is answered: without it, whichever is open',
    { isOptional: true },
  )
  sequence?: number;
}

/** @throws InvalidRequestError when content is given with nothing that takes it. */
export function toInputAnswer({ action, content }: InputAnswerDto): InputAnswer {
  if (action === 'accept') return { action, content: content ?? {} };
  if (content === undefined) return { action };
  const detail = `must be left out with the action ${action}`;
  throw new InvalidRequestError([{ pointer: '/content', detail }]);
}
