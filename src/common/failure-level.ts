import { DatabaseUnavailableError } from './domain-error.js';

/** How loud a failure is that is tried again: a database that is away comes back without a person. */
export function failureLevel(error: unknown): 'warn' | 'error' {
  return error instanceof DatabaseUnavailableError ? 'warn' : 'error';
}
