import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { CallOutcome } from '../background-calls/call-outcome.js';
import { ForegroundRace } from './foreground-race.js';

const OUTCOME: CallOutcome = { kind: 'result', result: { content: [] } };

describe('the race in the foreground', () => {
  let race: ForegroundRace;

  beforeEach(() => {
    jest.useFakeTimers();
    race = new ForegroundRace({ foregroundTimeoutSec: 600, foregroundMaxSec: 1_200 });
  });

  afterEach(() => {
    race.close();
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  it('tells events in the order in which they happened', async () => {
    race.armHandover(3_000, 'auto');
    jest.advanceTimersByTime(3_000);
    race.push({ kind: 'answer', outcome: OUTCOME });
    expect(await race.next()).toEqual({ kind: 'handover_due', reason: 'auto' });
    expect(await race.next()).toEqual({ kind: 'answer', outcome: OUTCOME });
  });

  it('lets an answer at the last moment win over the timer', async () => {
    race.armHandover(3_000, 'auto');
    jest.advanceTimersByTime(2_999);
    race.push({ kind: 'answer', outcome: OUTCOME });
    jest.advanceTimersByTime(1);
    expect(await race.next()).toEqual({ kind: 'answer', outcome: OUTCOME });
  });

  it('tells an event to a reader that already waits', async () => {
    const next = race.next();
    race.push({ kind: 'stopped', reason: 'caller_gone' });
    expect(await next).toEqual({ kind: 'stopped', reason: 'caller_gone' });
  });

  it('times out after silence, which progress breaks', async () => {
    jest.advanceTimersByTime(599_999);
    race.renewSilence();
    jest.advanceTimersByTime(599_999);
    race.push({ kind: 'stopped', reason: 'draining' });
    expect(await race.next()).toMatchObject({ kind: 'stopped' });
    jest.advanceTimersByTime(1);
    expect(await race.next()).toEqual({ kind: 'timeout', limitSec: 600 });
  });

  it('times out in the end however much progress arrives', async () => {
    for (let second = 0; second < 1_200; second += 100) {
      race.renewSilence();
      jest.advanceTimersByTime(100_000);
    }
    expect(await race.next()).toEqual({ kind: 'timeout', limitSec: 1_200 });
  });

  it('has one handover timer: arming it again replaces it', async () => {
    race.armHandover(1_000, 'auto');
    race.armHandover(2_000, 'client_timeout');
    jest.advanceTimersByTime(5_000);
    race.push({ kind: 'stopped', reason: 'draining' });
    expect(await race.next()).toEqual({ kind: 'handover_due', reason: 'client_timeout' });
    expect(await race.next()).toMatchObject({ kind: 'stopped' });
  });

  it('starts no timer any more once it is over, whatever still arrives', () => {
    race.close();
    race.renewSilence();
    race.armHandover(1_000, 'auto');
    expect(jest.getTimerCount()).toBe(0);
  });
});
