import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '../../common/logger.js';
import type { Database } from '../../database/database.js';
import type { BackgroundCall } from '../background-call.js';
import { ReferenceWriter } from './reference-writer.js';
import type { ToldReference, WorkSignsRepository } from './work-signs.repository.js';

const CALL = { id: 'call', ownerId: 'me', reference: null } as BackgroundCall;

describe('references of running work', () => {
  let written: string[][];
  let isAway: boolean;
  let call: BackgroundCall;
  let writer: ReferenceWriter;

  beforeEach(() => {
    jest.useFakeTimers();
    written = [];
    isAway = false;
    call = { ...CALL };
    const signs = {
      writeReferences: async (_: Database, told: ToldReference[]): Promise<void> => {
        if (isAway) return Promise.reject(new Error('away'));
        written.push(told.map(({ text }) => text));
        return Promise.resolve();
      },
    };
    writer = new ReferenceWriter(
      {} as Database,
      signs as unknown as WorkSignsRepository,
      Logger.create('silent'),
    );
  });

  afterEach(() => {
    writer.onApplicationShutdown();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('are written at once the first time, then the last of them twice a second', async () => {
    writer.put(call, { id: 1 });
    await jest.advanceTimersByTimeAsync(0);
    expect(written).toEqual([['{"id":1}']]);
    for (let id = 2; id <= 9; id++) writer.put(call, { id });
    await jest.advanceTimersByTimeAsync(499);
    expect(written).toHaveLength(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(written.slice(1)).toEqual([['{"id":9}']]);
  });

  it('of several calls are written together', async () => {
    const other = { ...CALL, id: 'other' };
    for (const each of [call, other]) writer.put(each, { id: 1 });
    await jest.advanceTimersByTimeAsync(0);
    for (const each of [call, other]) writer.put(each, { id: 2 });
    await jest.advanceTimersByTimeAsync(500);
    expect(written.at(-1)).toEqual(['{"id":2}', '{"id":2}']);
  });

  it('are not written when the row says so already', async () => {
    writer.put({ ...CALL, reference: { id: 1 } }, { id: 1 });
    writer.put(call, { id: 1 });
    writer.put(call, { id: 1 });
    await jest.advanceTimersByTimeAsync(1_000);
    expect(written).toHaveLength(1);
  });

  it('are tried again while the database is away, unless the call ends', async () => {
    isAway = true;
    writer.put(call, { id: 1 });
    await writer.settle(call);
    expect(writer.isStored(call)).toBe(false);
    writer.put(call, { id: 2 });
    isAway = false;
    await jest.advanceTimersByTimeAsync(500);
    expect(written).toEqual([['{"id":2}']]);
    expect(writer.isStored(call)).toBe(true);
    isAway = true;
    writer.put(call, { id: 3 });
    await jest.advanceTimersByTimeAsync(500);
    isAway = false;
    writer.forget(call);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(written).toHaveLength(1);
  });
});
