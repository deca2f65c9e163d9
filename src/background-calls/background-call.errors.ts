import { DomainError } from '../common/domain-error.js';

/** The call has no result: it has not ended, or it ended without one. */
export class NoResultError extends DomainError {
  readonly code = 'no_result';

  constructor(hasEnded: boolean) {
    super(hasEnded ? 'The call ended without a result.' : 'The call has not ended yet.');
  }
}

/** The result has no such part; the message says how many there are. */
export class NoSuchPartError extends DomainError {
  readonly code = 'not_found';

  constructor(count: number, hasStructuredContent: boolean) {
    const numbers = count === 0 ? 'no content parts' : `${count} content parts, from 0`;
    const structured = hasStructuredContent ? 'and' : 'and no';
    const detail = `The result has ${numbers}, ${structured} structuredContent.`;
    super(detail, { errors: [{ pointer: '?part', detail }] });
  }
}

/** The call asks nothing, or what is answered is answered or closed: it is not asked any more. */
export class InputNotRequiredError extends DomainError {
  readonly code = 'input_not_required';

  constructor() {
    super('The call does not wait for this input, or does not any more.');
  }
}
