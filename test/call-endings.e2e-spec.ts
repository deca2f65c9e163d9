import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { BackgroundCall } from '../src/background-calls/background-call.js';
import { BackgroundCallRegistry } from '../src/background-calls/background-call.registry.js';
import { failure, INTERRUPTED, timedOut } from '../src/background-calls/call-ending.js';
import type { CallOutcome } from '../src/background-calls/call-outcome.js';
import type { CallWork } from '../src/background-calls/call-work.js';
import { InFlightCalls } from '../src/background-calls/in-flight/in-flight-calls.js';
import { toPublicId } from '../src/common/ids.js';
import { InstanceLease } from '../src/instances/instance-lease.js';
import { RecoveryService } from '../src/recovery/recovery.service.js';
import { aHandoverRequest } from './support/a-handover-request.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { TestService } from './support/service.js';

const POLICY = { maxHours: 1, idleTimeoutSec: null, inlineChars: 100, maxBytes: 1_000 };
const RESULT: CallOutcome = { kind: 'result', result: { content: [] } };
const LOST = { kind: 'error', code: 'upstream_lost', message: '', outcomeUnknown: true } as const;

type Cause = 'result' | 'lost' | 'cancel' | 'deadline' | 'dead owner';
const CAUSES: Cause[] = ['result', 'lost', 'cancel', 'deadline', 'dead owner'];
const PAIRS = CAUSES.flatMap((first) =>
  CAUSES.filter((second) => second !== first).map((second): [Cause, Cause] => [first, second]),
);
const STATE: Record<Cause, string> = {
  result: 'completed',
  lost: 'failed upstream_lost',
  cancel: 'cancelled',
  deadline: 'failed timeout',
  'dead owner': 'failed interrupted',
};

/** Work that ends when the test says so. */
class FakeWork implements CallWork {
  answer: (outcome: CallOutcome) => void = () => undefined;
  readonly outcome = new Promise<CallOutcome>((resolve) => (this.answer = resolve));

  async cancel(): Promise<void> {}
  attach(): void {}

  detach(): void {}
}

/** Two things end the same call: the target's lock is held until both are on their way. */
describe('a call that is ended twice at once', () => {
  let service: TestService;
  let registry: BackgroundCallRegistry;
  let control: Client;
  let engine: Engine;
  let appId: string;
  let call: BackgroundCall;
  let work: FakeWork;

  beforeAll(async () => {
    service = await TestService.start();
    // Nobody but the tests ends their calls, or waits for the lock.
    await service.get(RecoveryService).stop();
    service.get(InstanceLease).stopBeating();
    registry = service.get(BackgroundCallRegistry);
    control = new Client({ connectionString: service.databaseUrl });
    await control.connect();
    appId = (await service.sql<{ id: string }>('SELECT apps.id FROM apps'))[0]?.id ?? '';
  });

  afterAll(async () => {
    await control.end();
    await service.stop();
  });

  beforeEach(async () => {
    engine = service.session();
    work = new FakeWork();
    call = await handedOver(1_000);
    service.get(InFlightCalls).adopt(call, POLICY, work);
  });

  it.each(PAIRS)('ends once and is told once: %s, then %s', async (first, second) => {
    const begun: Promise<unknown>[] = [];
    await control.query('BEGIN');
    await control.query('SELECT FROM targets WHERE targets.id = $1 FOR UPDATE', [call.targetId]);
    for (const cause of [first, second]) {
      const { waits, done } = await begin(cause, begun.length === 0 ? undefined : first);
      begun.push(done);
      if (waits) await blocked(begun.length);
    }
    await control.query('COMMIT');
    await Promise.all(begun);

    const id = toPublicId('bgc', call.id);
    const ended = await engine.get(id, 10);
    const state = ended.error ? `${ended.status} ${ended.error.code}` : ended.status;
    expect(state).toBe(stateAfter(first, second));
    const messages = await engine.receive([id]);
    expect(messages.flatMap(({ notifications }) => notifications)).toMatchObject([
      { status: ended.status, ...(ended.error && { error: ended.error }) },
    ]);
    expect(await engine.messages()).toEqual([]);
    await eventually('the call is forgotten', () => !service.get(InFlightCalls).has(call.id));
  });

  it('says that the outcome is unknown only if the upstream was asked', async () => {
    for (const wasAsked of [true, false]) {
      for (const ending of [INTERRUPTED, timedOut(1, 1), failure(LOST, true)]) {
        const of = await handedOver(wasAsked ? 1_000 : undefined);
        const ended = await registry.end(of, ending, 'owner');
        expect(ended?.outcomeUnknown).toBe(wasAsked);
      }
      // Told in the meantime, unseen by whoever judged before.
      const late = await handedOver(undefined);
      await registry.markDispatched(late);
      expect((await registry.end(late, INTERRUPTED, 'owner'))?.outcomeUnknown).toBe(true);
    }
  });

  /** A requested cancel beats every ending that is not written; else the first one gets the lock, but an owner who was fenced meanwhile writes nothing. */
  function stateAfter(first: Cause, second: Cause): string {
    if ([first, second].includes('cancel')) return STATE.cancel;
    const isFenced = second === 'dead owner' && (first === 'result' || first === 'lost');
    return STATE[isFenced ? second : first];
  }

  /** `waits`: it now waits for the lock that the test holds. */
  async function begin(
    cause: Cause,
    before: Cause | undefined,
  ): Promise<{ waits: boolean; done: Promise<unknown> }> {
    const done = Promise.resolve();
    switch (cause) {
      case 'result':
      case 'lost':
        work.answer(cause === 'result' ? RESULT : LOST);
        // What has an answer already, or is to be cancelled, hears no other one.
        return { waits: !['result', 'lost', 'cancel'].includes(before ?? ''), done };
      case 'cancel':
        await registry.requestCancel(call.id);
        return { waits: false, done };
      case 'deadline':
        await service.sql(
          `UPDATE background_calls SET deadline_at = now() - interval '1 ms' WHERE id = $1`,
          [call.id],
        );
        return { waits: true, done: registry.end(call, timedOut(1, 1), 'deadline') };
      case 'dead owner':
        await service.sql(
          'UPDATE background_calls SET owner_id = gen_random_uuid() WHERE id = $1',
          [call.id],
        );
        return { waits: true, done: registry.interrupt(call, 'dead-owner') };
    }
  }

  async function handedOver(runningForMs: number | undefined): Promise<BackgroundCall> {
    const address = { type: 'session' as const, sessionId: engine.sessionId };
    const moved = await registry.handOver(
      aHandoverRequest({ appId, address, runningForMs, ignoreLimits: true }),
    );
    if (moved.kind !== 'moved') throw new Error(moved.kind);
    return moved.call;
  }

  async function blocked(count: number): Promise<void> {
    const waiting = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await eventually(`${count} wait for the lock`, async () => {
      return (await control.query(waiting)).rows.length >= count;
    });
  }
});
