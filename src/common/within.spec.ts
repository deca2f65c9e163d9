import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { within } from './within.js';

describe('a wait with a limit', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('ends with the work, and leaves no timer', async () => {
    expect(await within(1_000, Promise.resolve('done'))).toBe(true);
  });

  it('ends at its limit, and does not care how the work ends after that', async () => {
    let fail = (_: Error): void => undefined;
    const waited = within(1_000, new Promise((_, reject) => (fail = reject)));
    await jest.advanceTimersByTimeAsync(1_000);
    expect(await waited).toBe(false);
    fail(new Error('late'));
  });

  it('fails as the work does', async () => {
    await expect(within(1_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });
});
