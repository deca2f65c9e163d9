import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import { DatabaseUnavailableError } from '../../common/domain-error.js';
import { Logger } from '../../common/logger.js';
import { DatabaseRetry } from '../../database/database-retry.js';
import type { Database } from '../../database/database.js';
import type { ResultFiles } from '../../delivery/files/result-files.js';
import type { TargetRepository } from '../../targets/target.repository.js';
import type { BackgroundCallRepository } from '../background-call.repository.js';
import type { Verdict } from '../in-flight/in-flight-call.js';
import type { OwnCall } from '../in-flight/own-call.js';
import { ResultFiling } from './result-filing.js';

const CALL = { id: 'c', targetId: 1 } as OwnCall;
const FILED = {
  ending: { result: { files: { main: 'a.txt', listed: [], unlisted: 0, unfiled: 0 } } },
  guard: 'owner',
} as unknown as Verdict;

describe('files of a call that ended otherwise', () => {
  let looks: (Error | undefined)[];
  let takenBack: number;
  let retry: DatabaseRetry;
  let filing: ResultFiling;

  beforeEach(() => {
    jest.useFakeTimers();
    takenBack = 0;
    retry = new DatabaseRetry();
    const database = {
      transaction: () => {
        const error = looks.shift();
        return error ? Promise.reject(error) : Promise.resolve(false);
      },
    };
    const files = { takeBack: () => Promise.resolve(void (takenBack += 1)) };
    filing = new ResultFiling(
      files as unknown as ResultFiles,
      database as unknown as Database,
      {} as TargetRepository,
      {} as BackgroundCallRepository,
      retry,
      new Logger(pino({ level: 'silent' })),
    );
  });
  afterEach(() => void jest.useRealTimers());

  it('are taken back once the database that was away can tell', async () => {
    looks = [new DatabaseUnavailableError(), new DatabaseUnavailableError()];
    const discarded = filing.discardUnlessRecorded(CALL, FILED);
    await jest.advanceTimersByTimeAsync(0);
    expect([looks.length, takenBack]).toEqual([1, 0]);
    await jest.advanceTimersByTimeAsync(10_000);
    await discarded;
    expect([looks.length, takenBack]).toEqual([0, 1]);
  });

  it('stay when this process closes its database before that', async () => {
    looks = Array.from({ length: 100 }, () => new DatabaseUnavailableError());
    const discarded = filing.discardUnlessRecorded(CALL, FILED);
    await jest.advanceTimersByTimeAsync(0);
    retry.onApplicationShutdown();
    await discarded;
    expect(takenBack).toBe(0);
  });

  it('stay when the database refuses to tell', async () => {
    looks = [new Error('a defect')];
    await filing.discardUnlessRecorded(CALL, FILED);
    expect([looks.length, takenBack]).toEqual([0, 0]);
  });
});
