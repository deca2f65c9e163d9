import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { Drain } from '../src/common/drain.js';
import type { PolicyWish } from '../src/policy/call-policy.js';
import type { ToolCallAnswer, ToolCallRequest } from '../src/tool-calls/tool-call.js';
import { ToolCallService } from '../src/tool-calls/tool-call.service.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import type { McpTestServer } from './support/mcp-server.js';
import type { TestService } from './support/service.js';
import { useService } from './support/service-fixture.js';

/** The database is held back by a lock, so that what a caller does falls into a step of the call. */
describe('callers that leave, and turns that are stopped, before the call is under way', () => {
  let upstream: McpTestServer;
  let service: TestService;
  let engine: Engine;
  let control: Client;
  let appId: string;
  let caller: AbortController;

  // Before the database goes: what was declared first is done first.
  afterAll(() => control.end());
  useService((fresh) => ({ upstream, service, engine } = fresh));

  beforeAll(async () => {
    control = new Client({ connectionString: service.databaseUrl });
    await control.connect();
    appId = (await service.sql<{ id: string }>('SELECT id FROM apps'))[0]?.id ?? '';
  });

  beforeEach(async () => {
    caller = new AbortController();
    await engine.startTurn('earlier');
    await engine.endTurn('earlier');
    await control.query('BEGIN');
  });

  afterEach(async () => {
    await control.query('ROLLBACK');
    await service.settings({ foreground: { onClientTimeout: 'background' } });
  });

  it('asks no upstream for a caller who has gone before anything was done', async () => {
    caller.abort();
    await expect(call({})).rejects.toMatchObject({ code: 'call_cancelled' });
    await expectNothingDone();
  });

  it('asks no upstream for a caller who goes while it is looked whether a slot is free', async () => {
    await control.query('LOCK TABLE targets IN ACCESS EXCLUSIVE MODE');
    const answer = call({ wish: { onLimit: 'reject' } });
    await blocked(1);
    caller.abort();
    await control.query('COMMIT');
    await expect(answer).rejects.toMatchObject({ code: 'call_cancelled' });
    await expectNothingDone();
  });

  it.each(['auto', 'always'] as const)(
    'does nothing for a caller who goes while the turn is opened: mode %s',
    async (mode) => {
      await service.settings({ foreground: { onClientTimeout: 'cancel' } });
      await lockTarget();
      const answer = call({ wish: { mode }, turnId: 'turn-1' });
      await blocked(1);
      caller.abort();
      await control.query('COMMIT');
      await expect(answer).rejects.toMatchObject({ code: 'call_cancelled' });
      await expectNothingDone();
    },
  );

  it('hands a call over whose caller goes while the row is written, and tells its end', async () => {
    await lockTarget();
    const answer = call({ wish: { mode: 'always' } });
    await blocked(1);
    caller.abort();
    await control.query('COMMIT');
    expect((await answer).outcome).toBe('background');
    upstream.release('early');
    const [moved] = await engine.list();
    expect(await engine.receive([moved.id])).toHaveLength(1);
  });

  it('stops a call whose turn is interrupted before its handover gets the lock', async () => {
    const answer = call({ wish: { autoAfterSec: 0.3 }, turnId: 'turn-1' }).catch(codeOf);
    await upstream.untilCalled(1);
    await lockTarget();
    const interrupt = engine.endTurn('turn-1', { interrupted: true });
    await blocked(2);
    await control.query('COMMIT');
    await interrupt;
    expect(await answer).toBe('turn_interrupted');
    await upstream.until(() => upstream.aborted.length === 1);
    expect(await engine.list()).toEqual([]);
  });

  it('leaves a call in the background whose turn is interrupted after its handover', async () => {
    const answer = call({ wish: { autoAfterSec: 0.2 }, turnId: 'turn-1' });
    await upstream.untilCalled(1);
    await lockTarget();
    await blocked(1);
    const interrupt = engine.endTurn('turn-1', { interrupted: true });
    await blocked(2);
    await control.query('COMMIT');
    await interrupt;
    expect((await answer).outcome).toBe('background');
    upstream.release('early');
    const [moved] = await engine.list();
    expect((await engine.receive([moved.id]))[0].text).toContain('gate early');
    expect(upstream.aborted).toEqual([]);
  });

  it('hands nothing over any more when this process begins to leave', async () => {
    await lockTarget();
    const answer = call({ wish: { mode: 'always' }, turnId: 'turn-1' });
    await blocked(1);
    service.get(Drain).begin();
    await control.query('COMMIT');
    await expect(answer).rejects.toMatchObject({ code: 'draining' });
    await expectNothingDone();
  });

  function call(
    differing: Partial<ToolCallRequest> & { wish?: PolicyWish },
  ): Promise<ToolCallAnswer> {
    const request: ToolCallRequest = {
      ...{ appId, address: { type: 'session', sessionId: engine.sessionId } },
      ...{ server: 'test', tool: 'gate', arguments: { name: 'early' }, wish: {} },
      ...{ turnId: undefined, toolCallId: randomUUID(), agentId: undefined },
      ...{ parentCallId: undefined, traceparent: undefined },
      ...differing,
    };
    return service.get(ToolCallService).call(request, caller.signal);
  }

  async function lockTarget(): Promise<void> {
    const lock = 'SELECT id FROM targets WHERE session_id = $1 FOR UPDATE';
    expect((await control.query(lock, [engine.sessionId])).rows).toHaveLength(1);
  }

  /** Waits until so many statements of the service wait for a lock. */
  async function blocked(count: number): Promise<void> {
    const waiting = `SELECT 1 FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await eventually(`${count} wait for a lock`, async () => {
      return (await control.query(waiting)).rows.length >= count;
    });
  }

  async function expectNothingDone(): Promise<void> {
    expect(await engine.list()).toEqual([]);
    expect(upstream.calls).toEqual([]);
  }
});

function codeOf(error: { code?: string }): string | undefined {
  return error.code;
}
