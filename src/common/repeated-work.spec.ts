import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { barrier } from '../../test/support/barrier.js';
import { RepeatedWork } from './repeated-work.js';
import { currentRequestContext, runInRequestContext } from './request-context.js';

const PAUSE_MS = 100;

describe('repeated work', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is done a pause from now, and a pause after each time that has ended', async () => {
    const gates = [barrier(), barrier()];
    let begun = 0;
    const work = new RepeatedWork(PAUSE_MS, () => gates[begun++]!.opened);
    work.start();
    await jest.advanceTimersByTimeAsync(PAUSE_MS - 1);
    expect(begun).toBe(0);
    await jest.advanceTimersByTimeAsync(10 * PAUSE_MS);
    expect(begun).toBe(1);
    gates[0]!.open();
    await jest.advanceTimersByTimeAsync(PAUSE_MS - 1);
    expect(begun).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    expect(begun).toBe(2);
  });

  it('can begin at once', async () => {
    const work = jest.fn(() => Promise.resolve());
    new RepeatedWork(PAUSE_MS, work).start(0);
    await jest.advanceTimersByTimeAsync(0);
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('stops when what is being done is done, and begins nothing more', async () => {
    const gate = barrier();
    const work = jest.fn(() => gate.opened);
    const repeated = new RepeatedWork(PAUSE_MS, work);
    repeated.start(0);
    await jest.advanceTimersByTimeAsync(0);
    let isStopped = false;
    const stopped = repeated.stop().then(() => (isStopped = true));
    await jest.advanceTimersByTimeAsync(0);
    expect(isStopped).toBe(false);
    gate.open();
    await stopped;
    await jest.advanceTimersByTimeAsync(10 * PAUSE_MS);
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('belongs to no request, whoever started it', async () => {
    const seen: unknown[] = [];
    const work = new RepeatedWork(PAUSE_MS, () => {
      seen.push(currentRequestContext());
      return Promise.resolve();
    });
    runInRequestContext({ requestId: 'r', statements: 0 }, () => work.start(0));
    await jest.advanceTimersByTimeAsync(PAUSE_MS);
    expect(seen).toEqual([undefined]);
  });
});
