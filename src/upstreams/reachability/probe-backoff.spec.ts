import { describe, expect, it } from '@jest/globals';
import { probeBackoffMs } from './probe-backoff.js';

describe('The wait before a server is tried again', () => {
  it('doubles from one second to one minute', () => {
    const waits = [1, 2, 3, 6, 7, 8, 5_000].map((failures) => probeBackoffMs(failures, 0.5));
    expect(waits).toEqual([1_000, 2_000, 4_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('varies by a fifth', () => {
    expect([probeBackoffMs(1, 0), probeBackoffMs(1, 1)]).toEqual([800, 1_200]);
  });
});
