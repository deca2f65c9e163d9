import { describe, expect, it } from '@jest/globals';
import { DatabaseUnavailableError } from './domain-error.js';
import { failureLevel } from './failure-level.js';

describe('a failure of what is tried again', () => {
  it('is a warning when the database is away', () => {
    class CommitBrokeOffError extends DatabaseUnavailableError {}
    expect(failureLevel(new DatabaseUnavailableError())).toBe('warn');
    expect(failureLevel(new CommitBrokeOffError())).toBe('warn');
  });

  it('is an error otherwise', () => {
    expect(failureLevel(new Error('refused'))).toBe('error');
  });
});
