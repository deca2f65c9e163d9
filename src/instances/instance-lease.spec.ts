import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Clock } from '../common/clock.js';
import { Logger } from '../common/logger.js';
import type { Configuration } from '../config/environment.js';
import type { Database } from '../database/database.js';
import { InstanceLease } from './instance-lease.js';
import type { InstanceRepository } from './instance.repository.js';

const HEARTBEAT_MS = 3_000;
const LEASE_MS = 12_000;

describe('the lease of an instance', () => {
  let renewal: () => Promise<boolean>;
  let lease: InstanceLease;

  beforeEach(async () => {
    jest.useFakeTimers();
    renewal = () => Promise.resolve(true);
    const instances = { register: () => Promise.resolve(), renew: () => renewal() };
    lease = new InstanceLease(
      {} as Database,
      instances as unknown as InstanceRepository,
      { heartbeatSec: 3, leaseSec: 12 } as Configuration,
      { uuid: () => 'me' },
      { monotonicMs: () => performance.now() } as Clock,
      Logger.create('silent'),
    );
    await lease.start();
  });

  afterEach(() => {
    lease.stopBeating();
    jest.useRealTimers();
  });

  it('lets a process judge others once it has held the database for one lease', async () => {
    await jest.advanceTimersByTimeAsync(LEASE_MS - 1);
    expect(lease.mayJudgeOthers).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(lease.mayJudgeOthers).toBe(true);
  });

  it('lets nobody judge others for one more lease after a heartbeat has failed', async () => {
    await jest.advanceTimersByTimeAsync(LEASE_MS);
    renewal = () => Promise.reject(new Error('away'));
    await jest.advanceTimersByTimeAsync(HEARTBEAT_MS);
    expect(lease.mayJudgeOthers).toBe(false);
    renewal = () => Promise.resolve(true);
    await jest.advanceTimersByTimeAsync(HEARTBEAT_MS + LEASE_MS - 1);
    expect(lease.mayJudgeOthers).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(lease.mayJudgeOthers).toBe(true);
  });

  it('lets nobody judge others while the database hangs, nor right after it', async () => {
    await jest.advanceTimersByTimeAsync(LEASE_MS);
    let answer = (_isRenewed: boolean): void => undefined;
    renewal = () => new Promise((resolve) => (answer = resolve));
    await jest.advanceTimersByTimeAsync(HEARTBEAT_MS + LEASE_MS);
    expect(lease.mayJudgeOthers).toBe(false);
    renewal = () => Promise.resolve(true);
    answer(true);
    await jest.advanceTimersByTimeAsync(LEASE_MS - 1);
    expect(lease.mayJudgeOthers).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(lease.mayJudgeOthers).toBe(true);
  });

  it('lets nobody judge others when the process was paused for longer than a lease', async () => {
    await jest.advanceTimersByTimeAsync(LEASE_MS);
    expect(lease.mayJudgeOthers).toBe(true);
    const now = performance.now();
    const paused = jest.spyOn(performance, 'now').mockReturnValue(now + LEASE_MS + 1);
    expect(lease.mayJudgeOthers).toBe(false);
    paused.mockRestore();
  });
});
