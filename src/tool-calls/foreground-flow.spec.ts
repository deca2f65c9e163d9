import { beforeEach, describe, expect, it } from '@jest/globals';
import type { BackgroundCall } from '../background-calls/background-call.js';
import type { CallOutcome } from '../background-calls/call-outcome.js';
import type { CallWork } from '../background-calls/call-work.js';
import type { HandoverAnswer } from '../background-calls/handover/handover-answer.js';
import type { Clock } from '../common/clock.js';
import { Drain } from '../common/drain.js';
import type { UpstreamListener } from '../upstreams/upstream-call.js';
import { DatabaseRetry } from '../database/database-retry.js';
import type { UpstreamPool } from '../upstreams/upstream-pool.js';
import { ForegroundCall } from './foreground-call.js';
import { ForegroundFlow } from './foreground-flow.js';
import type {
  HandoverAttempt,
  HandoverCircumstances,
  HandoverService,
  SettledHandover,
} from './handover.service.js';
import type { ToolCall } from './tool-call.js';

const RESULT: CallOutcome = { kind: 'result', result: { content: [] } };
const QUESTION = { message: 'Which one?', schema: {} };
const POLICY = { foregroundTimeoutSec: 60, foregroundMaxSec: 60, mode: 'auto' };
const TOOL_CALL = {
  policy: { ...POLICY, onClientTimeout: 'background' },
  request: { appId: 'app', address: { type: 'session', sessionId: 's-1' }, turnId: 'turn-1' },
} as unknown as ToolCall;
const MOVED = { kind: 'moved', call: {} as BackgroundCall } as const;

/** Attempts to move a call, in order, each with what the test says became of it. */
class FakeHandovers {
  readonly made: { circumstances: HandoverCircumstances; work: CallWork }[] = [];
  results: HandoverAttempt[] = [];

  async move(
    _call: ToolCall,
    circumstances: HandoverCircumstances,
    workOf: (call: BackgroundCall) => CallWork,
  ): Promise<HandoverAttempt> {
    this.made.push({ circumstances, work: workOf(MOVED.call) });
    return Promise.resolve(this.results.shift() ?? MOVED);
  }
}

describe('a call in the foreground', () => {
  let answer: (outcome: CallOutcome) => void;
  let upstream: UpstreamListener;
  let cancelled: string[];
  let handovers: FakeHandovers;
  let call: ForegroundCall;
  let flow: ForegroundFlow;
  let drain: Drain;

  beforeEach(() => {
    drain = new Drain();
    cancelled = [];
    handovers = new FakeHandovers();
    const outcome = new Promise<CallOutcome>((resolve) => (answer = resolve));
    const cancel = (reason: string): Promise<void> => Promise.resolve(void cancelled.push(reason));
    flow = new ForegroundFlow(
      {
        call: (_server: unknown, _request: unknown, listener: UpstreamListener) => {
          upstream = listener;
          return { outcome, cancel };
        },
      } as unknown as UpstreamPool,
      handovers as unknown as HandoverService,
      new DatabaseRetry(),
      { for: () => ({ outcome: 'background' }) } as unknown as HandoverAnswer,
      { monotonicMs: () => 0 } as Clock,
      drain,
    );
    call = new ForegroundCall(TOOL_CALL);
  });

  /** Runs it until it has an answer; answers the code of its error. */
  async function run(autoAfterSec: number | null): Promise<string | undefined> {
    const code = await flow.run(call, autoAfterSec).then(
      ({ outcome }) => outcome,
      (error: { code?: string }) => error.code,
    );
    call.race.close();
    return code;
  }

  function inDoubt(settled: Promise<SettledHandover>): void {
    handovers.results = [{ kind: 'in_doubt', settled }];
  }

  it('is stopped when its handover was in doubt for too long and did not happen after all', async () => {
    inDoubt(Promise.resolve({ kind: 'limit_reached' }));
    expect(await run(0.001)).toBe('database_unavailable');
    expect(cancelled).toHaveLength(1);
  });

  it('goes on when its handover was in doubt for too long and did happen', async () => {
    inDoubt(Promise.resolve(MOVED));
    expect(await run(0.001)).toBe('database_unavailable');
    expect(cancelled).toEqual([]);
  });

  it('is told, although its handover was in doubt and did not happen, if its caller had left', async () => {
    inDoubt(Promise.resolve({ kind: 'limit_reached' }));
    const running = run(null);
    call.callerGone();
    expect(await running).toBe('database_unavailable');
    answer(RESULT);
    await new Promise(setImmediate);
    expect(handovers.made[1]?.circumstances).toMatchObject({ ignoreLimits: true });
    expect(await handovers.made[1]?.work.outcome).toBe(RESULT);
    expect(cancelled).toEqual([]);
  });

  it('moves at once when its upstream asks something, which is put to whoever takes it', async () => {
    const running = run(null);
    const answered = upstream.onQuestion(QUESTION);
    expect(await running).toBe('background');
    expect(handovers.made[0]?.circumstances).toMatchObject({ handover: 'input_required' });
    const asked: unknown[] = [];
    handovers.made[0]?.work.attach({
      onProgress: () => undefined,
      onReference: () => undefined,
      onQuestion: async (question) => {
        asked.push(question);
        return Promise.resolve({ action: 'decline' });
      },
    });
    expect(await answered).toEqual({ action: 'decline' });
    expect(asked).toEqual([QUESTION]);
  });

  it('keeps the question while the database is away, and moves when it is back', async () => {
    handovers.results = [{ kind: 'unavailable' }];
    const running = run(null);
    void upstream.onQuestion(QUESTION);
    expect(await running).toBe('background');
    expect(handovers.made.map(({ circumstances }) => circumstances.handover)).toEqual([
      'input_required',
      'input_required',
    ]);
  });

  it.each([
    ['no slot is free', (): unknown => (handovers.results = [{ kind: 'limit_reached' }]), 'limit'],
    ['the service leaves', (): unknown => drain.begin(), 'shutting down'],
    [
      'it may never move',
      (): void => {
        call.race.close();
        const policy = { ...POLICY, mode: 'never' };
        call = new ForegroundCall({ ...TOOL_CALL, policy } as ToolCall);
      },
      'may not move',
    ],
  ])('tells its upstream why nobody is asked when %s, and goes on', async (_, arrange, why) => {
    arrange();
    const running = run(null);
    expect(await upstream.onQuestion(QUESTION)).toEqual({
      action: 'cancel',
      reason: expect.stringContaining(why) as unknown,
    });
    answer(RESULT);
    expect(await running).toBe('completed');
  });

  it('is told when its caller leaves after the answer has come and before it is sent', async () => {
    const running = run(null);
    call.race.push({ kind: 'answer', outcome: RESULT });
    call.callerGone();
    expect(await running).toBe('call_cancelled');
    expect(handovers.made[0]?.circumstances).toMatchObject({ handover: 'client_timeout' });
    expect(await handovers.made[0]?.work.outcome).toBe(RESULT);
  });
});
