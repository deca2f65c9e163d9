import { DomainError } from '../common/domain-error.js';

/** The call's turn was ended with `interrupted`: the user stopped it, so nothing may run for it any more. */
export class TurnInterruptedError extends DomainError {
  readonly code = 'turn_interrupted';

  constructor() {
    super('The turn of this call was interrupted.');
  }
}
