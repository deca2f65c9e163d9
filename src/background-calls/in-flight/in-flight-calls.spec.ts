import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '../../common/logger.js';
import type { ChannelListener } from '../../database/channel-listener.js';
import { CallMetrics } from '../call-metrics.js';
import { MetricsRegistry } from '../../metrics/metrics.registry.js';
import type { InstanceLease } from '../../instances/instance-lease.js';
import type { BackgroundCall, HandoverPolicy } from '../background-call.js';
import type { BackgroundCallRegistry } from '../background-call.registry.js';
import type { CallEnding } from '../call-ending.js';
import type { CallOutcome } from '../call-outcome.js';
import type { CallWork, WorkListener, WorkProgress } from '../call-work.js';
import type { InFlightCall } from './in-flight-call.js';
import { DatabaseRetry } from '../../database/database-retry.js';
import { EndWriter } from './end-writer.js';
import { InFlightCalls } from './in-flight-calls.js';
import type { ResultFiling } from '../results/result-filing.js';
import type { WorkRecorder } from './work-recorder.js';

const POLICY: HandoverPolicy = { maxHours: 1, idleTimeoutSec: 10, inlineChars: 100, maxBytes: 100 };
const NOW = new Date(0);
const CALL = { id: 'call', ownerId: 'me', startedAt: NOW, backgroundedAt: NOW } as BackgroundCall;

/** Work whose end and progress the test decides. */
class FakeWork implements CallWork {
  answer: (outcome: CallOutcome) => void = () => undefined;
  progress: (progress: WorkProgress) => void = () => undefined;
  readonly outcome = new Promise<CallOutcome>((resolve) => (this.answer = resolve));
  readonly stops: string[] = [];

  cancel(reason: string): Promise<void> {
    this.stops.push(reason);
    return Promise.resolve();
  }

  attach(listener: WorkListener): void {
    this.progress = (progress): void => listener.onProgress(progress);
  }

  detach(): void {
    this.stops.push('left');
  }
}

describe('calls in flight', () => {
  let fence: () => void;
  let ended: { ending: CallEnding; guard: string }[];
  let stored: Promise<void>;
  let calls: InFlightCalls;
  let work: FakeWork;
  let isResumable: boolean;
  /** Whether another replica's cancel came before. */
  let isCancelled: boolean;
  let steps: string[];
  let filed: Promise<void>;

  beforeEach(() => {
    jest.useFakeTimers();
    ended = [];
    isResumable = false;
    isCancelled = false;
    steps = [];
    filed = Promise.resolve();
    stored = Promise.resolve();
    work = new FakeWork();
    const registry = {
      end: async (call: BackgroundCall, ending: CallEnding, guard: string) => {
        ended.push({ ending, guard });
        steps.push(`end by ${guard}`);
        await stored;
        return isCancelled && guard === 'owner' ? undefined : call;
      },
    };
    const filing = {
      file: (_: BackgroundCall, verdict: unknown) => filed.then(() => verdict),
      discardUnlessRecorded: () => Promise.resolve(void steps.push('take files back')),
    };
    const recorder = {
      listenerFor: (entry: InFlightCall, isOurs: () => boolean) => ({
        onProgress: () => void (isOurs() && entry.renewSilence()),
      }),
      settle: () => Promise.resolve(),
      isResumable: () => isResumable,
      isLeftResumable: () => Promise.resolve(isResumable),
      forget: () => undefined,
    };
    calls = new InFlightCalls(
      new EndWriter(
        registry as unknown as BackgroundCallRegistry,
        new DatabaseRetry(),
        Logger.create('silent'),
      ),
      recorder as unknown as WorkRecorder,
      filing as unknown as ResultFiling,
      Logger.create('silent'),
      { onFenced: (listener: () => void) => (fence = listener) } as unknown as InstanceLease,
      { on: () => undefined } as unknown as ChannelListener,
      new CallMetrics(new MetricsRegistry()),
    );
  });

  afterEach(() => {
    jest.useRealTimers();
  });

  it.each([
    ['somebody else has ended', () => calls.dropEnded(CALL.id)],
    ['was taken over', () => fence()],
  ])('leave nothing behind of a call that %s', async (_, takeAway) => {
    calls.adopt(CALL, POLICY, work);
    takeAway();
    work.progress({ progress: 1 });
    await calls.leaveAll();
    work.answer({ kind: 'result', result: {} });
    await jest.advanceTimersByTimeAsync(0);
    expect(ended).toEqual([]);
    expect(calls.has(CALL.id)).toBe(false);
    expect(work.stops).toHaveLength(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('are not kept alive by progress that comes while the end is written', async () => {
    let store = (): void => undefined;
    stored = new Promise((resolve) => (store = resolve));
    calls.adopt(CALL, POLICY, work);
    work.answer({ kind: 'result', result: {} });
    await jest.advanceTimersByTimeAsync(0);
    work.progress({ progress: 1 });
    expect(jest.getTimerCount()).toBe(0);
    store();
    await calls.leaveAll();
    expect(ended).toHaveLength(1);
  });

  it('take the files of an answer back before they end as cancelled', async () => {
    isCancelled = true;
    calls.adopt(CALL, POLICY, work);
    work.answer({ kind: 'result', result: {} });
    await jest.advanceTimersByTimeAsync(0);
    await calls.leaveAll();
    expect(steps).toEqual(['end by owner', 'take files back', 'end by cancel']);
  });

  it('take the files of an answer back when the call was taken over while they were written', async () => {
    let file = (): void => undefined;
    filed = new Promise((resolve) => (file = resolve));
    calls.adopt(CALL, POLICY, work);
    work.answer({ kind: 'result', result: {} });
    await jest.advanceTimersByTimeAsync(0);
    fence();
    file();
    await calls.leaveAll();
    expect(steps).toEqual(['take files back']);
  });

  it('are still stopped by silence after progress', async () => {
    calls.adopt(CALL, POLICY, work);
    await jest.advanceTimersByTimeAsync(9_000);
    work.progress({ progress: 1 });
    await jest.advanceTimersByTimeAsync(9_000);
    expect(ended).toEqual([]);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(ended).toMatchObject([{ ending: { error: { code: 'idle_timeout' } } }]);
  });

  it('end whatever the worker answered', async () => {
    calls.adopt(CALL, POLICY, work);
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    work.answer({ kind: 'result', result: circular });
    await jest.advanceTimersByTimeAsync(0);
    expect(ended).toMatchObject([
      { ending: { status: 'failed', error: { code: 'upstream_error' }, outcomeUnknown: true } },
    ]);
  });

  it('carry out a cancel that was asked for before the call was taken', async () => {
    calls.announce(CALL.id);
    calls.cancel(CALL.id);
    calls.adopt(CALL, POLICY, work);
    work.answer({ kind: 'result', result: {} });
    await jest.advanceTimersByTimeAsync(0);
    expect(ended).toMatchObject([{ ending: { status: 'cancelled' }, guard: 'cancel' }]);
  });

  it.each([
    ['somebody else has ended or runs', async () => Promise.resolve(calls.dropEnded(CALL.id))],
    ['was taken over', async () => Promise.resolve(fence())],
    ['another process can go on with when this one leaves', () => calls.leaveAll()],
  ])('leave work alone that can be gone on with, of a call that %s', async (_, letGo) => {
    isResumable = true;
    calls.adopt(CALL, POLICY, work);
    await letGo();
    work.answer({ kind: 'result', result: {} });
    await jest.advanceTimersByTimeAsync(0);
    expect(work.stops).toEqual(['left']);
    expect(ended).toEqual([]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('keep a row that was given up from being taken for a stray', async () => {
    isResumable = true;
    calls.adopt(CALL, POLICY, work);
    await calls.leaveAll();
    expect(calls.has(CALL.id)).toBe(true);
  });

  it('end at the deadline that was left when they were taken over', async () => {
    calls.adopt(CALL, { ...POLICY, idleTimeoutSec: null }, work, 2_000);
    await jest.advanceTimersByTimeAsync(1_999);
    expect(ended).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(ended).toMatchObject([{ ending: { error: { code: 'timeout' } } }]);
  });
});
