import { DomainError } from '../common/domain-error.js';

/** The call has no result: it has not ended, or it ended without one. */
export class NoResultError extends DomainError {
  readonly code = 'no_result';

  constructor(hasEnded: boolean) {
    super(hasEnded ? 'The call ended without a result.' : 'The call has not ended yet.');
  }
}
