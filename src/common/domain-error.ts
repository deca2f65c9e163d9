import type { ErrorCode } from './error-code.js';

/** One wrong place in a request. `pointer` is a JSON pointer (RFC 6901) into the body, or `?name` for a query field. */
export interface FieldError {
  pointer: string;
  detail: string;
}

interface DomainErrorOptions {
  errors?: FieldError[];
  /** Seconds after which trying again makes sense. */
  retryAfterSec?: number;
  /** Extra members of the problem body, for example `outcomeUnknown`. */
  extensions?: Record<string, unknown>;
  cause?: unknown;
}

/**
 * An expected failure with a stable snake_case code. What HTTP status a code becomes is decided in
 * `problem-status.ts` alone.
 */
export abstract class DomainError extends Error {
  abstract readonly code: ErrorCode;
  readonly errors: FieldError[];
  readonly retryAfterSec: number | undefined;
  readonly extensions: Record<string, unknown>;

  constructor(message: string, options: DomainErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = new.target.name;
    this.errors = options.errors ?? [];
    this.retryAfterSec = options.retryAfterSec;
    this.extensions = options.extensions ?? {};
  }
}

/** The thing does not exist, its id is malformed, or it belongs to somebody else: the three look alike. */
export class NotFoundError extends DomainError {
  readonly code = 'not_found';

  constructor() {
    super('There is nothing at this address, or this key may not see it.');
  }
}

/** The body, query or a header breaks a rule; `errors` says which field and what is allowed. */
export class InvalidRequestError extends DomainError {
  readonly code = 'invalid_request';

  constructor(errors: FieldError[]) {
    super('The request is invalid: see errors.', { errors });
  }
}

/** What is asked for collides with what is there; `errors` names the field where one is to blame. */
export class ConflictError extends DomainError {
  readonly code = 'conflict';

  constructor(message: string, errors: FieldError[] = []) {
    super(message, { errors });
  }
}

/** The request needs the database and it does not answer. */
export class DatabaseUnavailableError extends DomainError {
  readonly code = 'database_unavailable';

  constructor(cause?: unknown) {
    super('The database does not answer at the moment.', { retryAfterSec: 2, cause });
  }
}

/** No key, a malformed one, an unknown one or a revoked one: the four look alike. */
export class UnauthorizedError extends DomainError {
  readonly code = 'unauthorized';

  constructor() {
    super('A valid key is needed: Authorization: Bearer <key>.');
  }
}

/** The key is valid, but of an audience that may not do this. */
export class ForbiddenError extends DomainError {
  readonly code = 'forbidden';

  constructor() {
    super('This key is of an audience that may not do this.');
  }
}

/** This process is shutting down and takes no new work. */
export class DrainingError extends DomainError {
  readonly code = 'draining';

  /** `hasBegun`: what was asked for may have been done, or be going on. */
  constructor(hasBegun = false) {
    if (hasBegun)
      super('The service was shut down while the call was running; its work may have been done.', {
        extensions: { outcomeUnknown: true },
      });
    else super('The service is shutting down; try again.', { retryAfterSec: 2 });
  }
}
