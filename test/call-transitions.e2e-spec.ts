import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BackgroundCall } from '../src/background-calls/background-call.js';
import { BackgroundCallRegistry } from '../src/background-calls/background-call.registry.js';
import {
  CANCELLED,
  type CallEnding,
  endingOf,
  failure,
} from '../src/background-calls/call-ending.js';
import {
  CALL_STATUSES,
  type CallStatus,
  isTerminal,
  type TerminalStatus,
  TRANSITIONS,
} from '../src/background-calls/call-status.js';
import { InstanceLease } from '../src/instances/instance-lease.js';
import { RecoveryService } from '../src/recovery/recovery.service.js';
import { aHandoverRequest } from './support/a-handover-request.js';
import { TestService } from './support/service.js';

const ENDINGS: Record<TerminalStatus, CallEnding> = {
  completed: { status: 'completed', error: null, outcomeUnknown: false, result: null },
  failed: failure({ code: 'upstream_error', message: 'no' }),
  cancelled: CANCELLED,
};
const WITH_RESULT = endingOf(
  { kind: 'result', result: { content: [] } },
  { inlineChars: 100, maxBytes: 1_000 },
);
const TERMINAL = CALL_STATUSES.filter(isTerminal);
const PAIRS = CALL_STATUSES.flatMap((from) =>
  TERMINAL.map((to): [CallStatus, TerminalStatus] => [from, to]),
);

const PUT_INTO = `
  UPDATE background_calls
  SET status = $2, ended_at = CASE WHEN $3 THEN now() END,
    error_code = CASE WHEN $2 = 'failed' THEN 'tool_error' END,
    cancel_requested_at = CASE WHEN $4 THEN now() END,
    owner_id = CASE WHEN $2 <> 'queued' THEN background_calls.owner_id END,
    started_at = CASE WHEN $2 <> 'queued' THEN background_calls.started_at END,
    deadline_at = CASE WHEN $2 <> 'queued' THEN background_calls.deadline_at END,
    dispatched_at = CASE WHEN $2 <> 'queued' THEN background_calls.dispatched_at END
  WHERE background_calls.id = $1`;
const NOT_DISPATCHED = `
  UPDATE background_calls SET dispatched_at = NULL WHERE background_calls.id = $1`;
const STATE_OF = `
  SELECT background_calls.status, background_calls.ended_at, background_calls.error_code,
    (SELECT count(*) FROM notifications WHERE notifications.call_id = background_calls.id) AS told
  FROM background_calls
  WHERE background_calls.id = $1`;
/** All that is written with the end of a call. */
const WRITTEN = `
  SELECT to_jsonb(background_calls) AS row, background_calls.status,
    (SELECT count(*) FROM notifications WHERE notifications.call_id = background_calls.id)
      AS notifications,
    (SELECT count(*) FROM call_results WHERE call_results.call_id = background_calls.id) AS results,
    ARRAY(SELECT events.type FROM events WHERE events.call_id = background_calls.id
      ORDER BY events.id) AS events
  FROM background_calls
  WHERE background_calls.id = $1`;
const REFUSE = `
  CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
  AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$`;

describe('a row of a background call', () => {
  let service: TestService;
  let registry: BackgroundCallRegistry;
  let appId: string;

  beforeAll(async () => {
    service = await TestService.start();
    await service.settings({ backgroundCalls: { maxPerTarget: 1_000 } });
    await service.sql(REFUSE);
    // Nobody but the tests moves their calls.
    await service.get(RecoveryService).stop();
    service.get(InstanceLease).stopBeating();
    registry = service.get(BackgroundCallRegistry);
    appId = (await service.sql<{ id: string }>('SELECT apps.id FROM apps'))[0]?.id ?? '';
  });
  afterAll(() => service.stop());

  /** A call in that state; `isCancelRequested` decides which of the guards by right holds. */
  async function aCall(status: CallStatus, isCancelRequested: boolean): Promise<BackgroundCall> {
    const handedOver = await registry.handOver(aHandoverRequest({ appId }));
    if (handedOver.kind !== 'moved') throw new Error(handedOver.kind);
    const hasCancel = isCancelRequested || status === 'cancelled';
    await service.sql(PUT_INTO, [handedOver.call.id, status, isTerminal(status), hasCancel]);
    return handedOver.call;
  }

  it.each(PAIRS)('in state %s moves to %s exactly when the table allows it', async (from, to) => {
    const call = await aCall(from, to === 'cancelled');
    const [before] = await service.sql(STATE_OF, [call.id]);
    // What waits has no owner.
    const rightToFail = from === 'queued' ? 'dead-owner' : 'owner';
    const guard = to === 'cancelled' ? 'cancel' : rightToFail;
    const ended = await registry.end(call, ENDINGS[to], guard);
    const isAllowed = TRANSITIONS[from].includes(to);
    expect(ended?.status).toBe(isAllowed ? to : undefined);
    const [after] = await service.sql(STATE_OF, [call.id]);
    expect(after).toEqual(isAllowed ? expect.objectContaining({ status: to, told: 1 }) : before);
  });

  it.each(CALL_STATUSES)(
    'in state %s takes the request of a cancel only while it may end',
    async (from) => {
      const call = await aCall(from, false);
      const asked = await registry.requestCancel(call.id);
      expect(asked !== undefined).toBe(TRANSITIONS[from].includes('cancelled'));
    },
  );

  it.each(CALL_STATUSES)(
    'in state %s goes back into the queue only while it surely was not dispatched',
    async (from) => {
      const call = await aCall(from, false);
      const moved = await registry.interrupt(call, 'owner');
      // A dispatched call that runs ends as interrupted.
      const mayEnd = from === 'running' || from === 'input_required';
      expect(moved?.status).toBe(mayEnd ? 'failed' : undefined);
      const other = await aCall(from, false);
      await service.sql(NOT_DISPATCHED, [other.id]);
      const again = await registry.interrupt(other, 'owner');
      const expected =
        from === 'running' ? 'queued' : from === 'input_required' ? 'failed' : undefined;
      expect(again?.status).toBe(expected);
    },
  );

  it('is made once, however often its handover is asked for, as after a COMMIT of unknown outcome', async () => {
    const request = aHandoverRequest({ appId });
    const first = await registry.handOver(request);
    if (first.kind !== 'moved') throw new Error(first.kind);
    const [before] = await service.sql(WRITTEN, [request.id]);
    expect(await registry.handOver(request)).toEqual(first);
    expect(await service.sql(WRITTEN, [request.id])).toEqual([before]);
    // Nor does it begin again when it has ended meanwhile.
    await registry.end(first.call, ENDINGS.completed, 'owner');
    expect(await registry.handOver(request)).toMatchObject({ call: { status: 'completed' } });
  });

  it('is in a state that the table knows, or not at all', async () => {
    const { id } = await aCall('running', false);
    for (const status of ['paused', 'RUNNING', ''])
      await expect(service.sql(PUT_INTO, [id, status, false, false])).rejects.toMatchObject({
        constraint: 'background_calls_status_known',
      });
    expect((await service.sql(STATE_OF, [id]))[0]).toMatchObject({ status: 'running' });
  });

  it('ends by the right of its owner, of a cancel, of a deadline and of a dead owner, and by no other', async () => {
    const stranger = { ownerId: randomUUID() };
    const running = await aCall('running', false);
    const { failed } = ENDINGS;
    expect(await registry.end({ ...running, ...stranger }, failed, 'owner')).toBeUndefined();
    expect(await registry.end(running, CANCELLED, 'cancel')).toBeUndefined();
    expect(await registry.end(running, failed, 'deadline')).toBeUndefined();
    expect(await registry.end(running, failed, 'dead-owner')).toBeUndefined();
    const cancelling = await aCall('running', true);
    for (const guard of ['owner', 'deadline', 'dead-owner'] as const)
      expect(await registry.end(cancelling, failed, guard)).toBeUndefined();
    expect(await registry.end(cancelling, CANCELLED, 'cancel')).toMatchObject({
      status: 'cancelled',
    });
    expect(await registry.end(running, failed, 'owner')).toMatchObject({ status: 'failed' });
  });

  it('is written about by no owner that was fenced', async () => {
    const ownerId = randomUUID();
    const fenced = async (wasDispatched: boolean): Promise<BackgroundCall> => {
      const call = await aCall('running', false);
      await service.sql('UPDATE background_calls SET owner_id = $2 WHERE id = $1', [
        ...[call.id, ownerId],
      ]);
      if (!wasDispatched) await service.sql(NOT_DISPATCHED, [call.id]);
      return { ...call, ownerId };
    };
    for (const wasDispatched of [true, false]) {
      const call = await fenced(wasDispatched);
      const [before] = await service.sql(STATE_OF, [call.id]);
      expect(await registry.end(call, ENDINGS.completed, 'owner')).toBeUndefined();
      expect(await registry.interrupt(call, 'owner')).toBeUndefined();
      expect(await registry.markDispatched(call)).toBe(false);
      expect(await service.sql(STATE_OF, [call.id])).toEqual([before]);
    }
  });

  it.each(['notifications', 'events', 'call_results'])(
    'goes on as if nothing had happened when its end can not be written whole: %s',
    async (table) => {
      const call = await aCall('running', false);
      const [before] = await service.sql(WRITTEN, [call.id]);
      await service.sql(`CREATE TRIGGER refuses BEFORE INSERT ON ${table}
        FOR EACH ROW EXECUTE FUNCTION refuse()`);
      try {
        await expect(registry.end(call, WITH_RESULT, 'owner')).rejects.toThrow('refused');
      } finally {
        await service.sql(`DROP TRIGGER refuses ON ${table}`);
      }
      expect(await service.sql(WRITTEN, [call.id])).toEqual([before]);
      expect(before).toMatchObject({ status: 'running', notifications: 0, results: 0 });
      expect(await registry.end(call, WITH_RESULT, 'owner')).toBeDefined();
      const [after] = await service.sql(WRITTEN, [call.id]);
      expect(after).toMatchObject({ status: 'completed', notifications: 1, results: 1 });
    },
  );
});
