import { beforeEach, describe, expect, it } from '@jest/globals';
import { DatabaseUnavailableError } from '../common/domain-error.js';
import { DatabaseRetry } from './database-retry.js';

describe('trying again while the database is away', () => {
  const away = new DatabaseUnavailableError();
  let retry: DatabaseRetry;
  let failures: unknown[];
  let tries: number;

  beforeEach(() => {
    retry = new DatabaseRetry();
    failures = [];
    tries = 0;
  });

  const onAway = (error: unknown): void => void failures.push(error);
  const failing = (): Promise<never> => {
    tries += 1;
    return Promise.reject(away);
  };

  it('answers what the first try answers that the database takes', async () => {
    const attempt = (): Promise<number> => (tries === 2 ? Promise.resolve(7) : failing());
    expect(await retry.whileAway(attempt, { onAway })).toBe(7);
    expect(failures).toEqual([away, away]);
  });

  it('passes a refusal on at once', async () => {
    const refusal = new Error('duplicate key');
    const refused = retry.whileAway(() => Promise.reject(refusal), { onAway });
    await expect(refused).rejects.toBe(refusal);
    expect(failures).toEqual([]);
  });

  it('gives up when no further try is wanted', async () => {
    const isWanted = (): boolean => tries < 2;
    await expect(retry.whileAway(failing, { onAway, isWanted })).rejects.toBe(away);
    expect(tries).toBe(2);
  });

  it('gives up in the middle of a pause when it is stopped', async () => {
    const stop = new AbortController();
    const trying = retry.whileAway(failing, { onAway, stop: stop.signal });
    stop.abort();
    await expect(trying).rejects.toBe(away);
    expect(tries).toBe(1);
  });

  it('gives up when this process closes its database', async () => {
    const trying = retry.whileAway(failing, { onAway });
    retry.onApplicationShutdown();
    await expect(trying).rejects.toBe(away);
    expect(tries).toBe(1);
  });
});
