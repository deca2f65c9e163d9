import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import type { ApiResponse } from './support/api.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { PostgresProxy } from './support/postgres-proxy.js';
import { TestService } from './support/service.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

/** The commit of each handover does what `commit_mode` says: go on, wait for a lock, or fail. */
const COMMIT_GATE = `
CREATE TABLE commit_mode (mode text NOT NULL);
INSERT INTO commit_mode VALUES ('go on');
CREATE SEQUENCE failed_commits;
CREATE FUNCTION obey_commit_mode() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  CASE (SELECT mode FROM commit_mode)
    WHEN 'wait' THEN PERFORM pg_advisory_xact_lock(4711);
    WHEN 'fail' THEN PERFORM nextval('failed_commits'); RAISE EXCEPTION 'the disk is full' USING ERRCODE = 'disk_full';
    ELSE NULL;
  END CASE;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER obey_commit_mode AFTER INSERT ON background_calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION obey_commit_mode();`;

const AUTO = { background: { autoAfterSec: 0.2 } };

describe('the race between the answer and the handover', () => {
  let database: TestDatabase;
  let proxy: PostgresProxy;
  let upstream: McpTestServer;
  let service: TestService;
  let engine: Engine;
  let control: Client;
  /** Outside of any transaction: inside of one pg_stat_activity would not change. */
  let observer: Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    control = new Client({ connectionString: database.url });
    await control.connect();
    await control.query(COMMIT_GATE);
    observer = new Client({ connectionString: database.url });
    await observer.connect();
    proxy = await PostgresProxy.start(database.url);
    upstream = await McpTestServer.start();
    service = await TestService.start({ database: { ...database, url: proxy.url } });
    await service.register('test', upstream.url);
  });

  afterAll(async () => {
    await service.stop();
    await upstream.stop();
    await proxy.stop();
    await control.end();
    await observer.end();
    await database.drop();
  });

  beforeEach(() => {
    engine = service.session();
    upstream.calls.length = 0;
  });

  afterEach(async () => {
    // A failed test must not leave its locks to the next one.
    await control.query('ROLLBACK');
    await control.query('SELECT pg_advisory_unlock_all()');
    await commits('go on');
  });

  it('answers in the foreground when the answer comes before the timer', async () => {
    const call = engine.call('gate', { name: 'before' }, { background: { autoAfterSec: 5 } });
    await upstream.untilCalled(1);
    upstream.release('before');
    expect(await call).toMatchObject({ status: 200, body: { outcome: 'completed' } });
    await expectNothingRecorded();
  });

  it('stays in the background when the answer comes while the row is being written', async () => {
    await control.query('BEGIN');
    await control.query('LOCK TABLE background_calls IN EXCLUSIVE MODE');
    const call = engine.call('gate', { name: 'at' }, AUTO);
    await untilBlocked('INSERT INTO background_calls');
    upstream.release('at');
    expect(await isSettled(call)).toBe(false);
    await control.query('COMMIT');
    await expectToldOnce(await call);
  });

  it('stays in the background when the answer comes while the commit is slow', async () => {
    await commits('wait');
    await control.query('SELECT pg_advisory_lock(4711)');
    const call = engine.call('gate', { name: 'slow-commit' }, AUTO);
    await untilBlocked('COMMIT');
    upstream.release('slow-commit');
    expect(await isSettled(call)).toBe(false);
    await control.query('SELECT pg_advisory_unlock(4711)');
    await expectToldOnce(await call);
  });

  it('tells an answer that comes after the 202', async () => {
    const call = await engine.call('gate', { name: 'after' }, AUTO);
    upstream.release('after');
    await expectToldOnce(call);
  });

  it('stays in the foreground when the commit fails, and answers there', async () => {
    await commits('fail');
    const call = engine.call('gate', { name: 'fails' }, AUTO);
    await untilCommitFailed(call);
    upstream.release('fails');
    expect(await call).toMatchObject({ status: 200, body: { outcome: 'completed' } });
    await expectNothingRecorded();
  });

  it('tries the handover again when the commit failed', async () => {
    await commits('fail');
    const call = engine.call('gate', { name: 'again' }, AUTO);
    await untilCommitFailed(call);
    await commits('go on');
    const answer = await call;
    upstream.release('again');
    await expectToldOnce(answer);
  });

  it('refuses an always call with 503 when the commit fails, and never asks the upstream', async () => {
    await commits('fail');
    const answer = await engine.call('echo', {}, { background: { mode: 'always' } });
    expect(answer).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
    expect(upstream.calls).toHaveLength(0);
    await expectNothingRecorded();
  });

  it.each(['before', 'after'] as const)(
    'finds out what became of a commit whose connection broke %s it',
    async (when) => {
      const broken = proxy.breakNext('COMMIT', when);
      const call = engine.call('gate', { name: when }, AUTO);
      await broken;
      const answer = await call;
      upstream.release(when);
      await expectToldOnce(answer);
    },
  );

  it.each(['before', 'after'] as const)(
    'answers nobody while the commit is in doubt and the database away, not even with the result: cut %s it',
    async (when) => {
      const broken = proxy.breakNext('COMMIT', when);
      const name = `doubt-${when}`;
      const call = engine.call('gate', { name }, AUTO);
      await broken;
      proxy.cut();
      upstream.release(name);
      expect(await isSettled(call)).toBe(false);
      proxy.restore();
      await expectToldOnce(await call);
    },
  );

  it('gives each of 300 callers around the timer exactly one of result and message', async () => {
    await service.settings({ backgroundCalls: { maxPerTarget: 300 } });
    const outcomes = { completed: 0, background: 0 };
    const moved = new Set<string>();
    for (let round = 0; round < 10; round++) {
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, n) =>
          engine.call('slow', { ms: aroundTimer(n) }, { background: { autoAfterSec: 0.4 } }),
        ),
      );
      for (const { status, body } of answers) {
        expect([status, body.outcome]).toEqual(
          body.outcome === 'completed' ? [200, 'completed'] : [202, 'background'],
        );
        outcomes[body.outcome as keyof typeof outcomes] += 1;
        if (body.outcome === 'background') moved.add(body.call.id as string);
      }
    }
    expect(outcomes.completed + outcomes.background).toBe(300);
    expect(Math.min(outcomes.completed, outcomes.background)).toBeGreaterThan(0);
    expect(upstream.calls).toHaveLength(300);
    const messages = await engine.receive([...moved]);
    const told = messages.flatMap(({ notifications }) =>
      notifications.map((notification: { callId: string }) => notification.callId),
    );
    expect(told).toHaveLength(moved.size);
    expect(new Set(told)).toEqual(moved);
    expect(new Set((await recorded()).map(({ status }) => status))).toEqual(new Set(['completed']));
    expect(await recorded()).toHaveLength(moved.size);
  }, 60_000);

  /** 0 to 780 ms for n from 0 to 29, most of them close to the 400 ms of the timer. */
  function aroundTimer(n: number): number {
    return Math.round(390 + 390 * ((n - 14.5) / 14.5) ** 3);
  }

  async function commits(mode: 'go on' | 'wait' | 'fail'): Promise<void> {
    await control.query('ALTER SEQUENCE failed_commits RESTART');
    await control.query('UPDATE commit_mode SET mode = $1', [mode]);
  }

  /** Waits until this statement of the service waits for a lock that this test holds. */
  async function untilBlocked(statement: string): Promise<void> {
    await eventually(`it waits for a lock: ${statement}`, async () => {
      const { rows } = await observer.query(
        `SELECT 1 FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`,
        [`%${statement}%`],
      );
      return rows.length > 0;
    });
  }

  /** Waits until the service has tried, and failed, to commit a handover. */
  async function untilCommitFailed(call: Promise<ApiResponse>): Promise<void> {
    await eventually('a commit has failed', async () => {
      const { rows } = await control.query('SELECT 1 FROM failed_commits WHERE is_called');
      return rows.length > 0;
    });
    expect(await isSettled(call)).toBe(false);
  }

  /** Whether the promise settles within three turns of the event loop's timers. */
  async function isSettled(promise: Promise<unknown>): Promise<boolean> {
    const pending = Symbol('pending');
    const late = new Promise((resolve) => setTimeout(() => resolve(pending), 150));
    return (await Promise.race([promise, late])) !== pending;
  }

  async function recorded(): Promise<{ status: string }[]> {
    const { rows } = await control.query<{ status: string }>(
      `SELECT c.status FROM background_calls AS c JOIN targets AS t ON t.id = c.target_id
       WHERE t.session_id = $1`,
      [engine.sessionId],
    );
    return rows;
  }

  async function expectNothingRecorded(): Promise<void> {
    expect(await recorded()).toEqual([]);
    expect(await engine.messages()).toEqual([]);
  }

  async function expectToldOnce(answer: ApiResponse): Promise<void> {
    expect(answer).toMatchObject({ status: 202, body: { outcome: 'background' } });
    const messages = await engine.receive([answer.body.call.id]);
    expect(messages.flatMap(({ notifications }) => notifications)).toHaveLength(1);
    expect(await recorded()).toEqual([{ status: 'completed' }]);
    expect(await engine.messages()).toEqual([]);
    expect(upstream.calls).toHaveLength(1);
  }
});
