import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { fromPublicId } from '../src/common/ids.js';
import { RetentionSweeper } from '../src/recovery/retention/retention-sweeper.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { McpTestServer } from './support/mcp-server.js';
import { TestService } from './support/service.js';

const DAYS = 30;
const AGE = `interval '31 days'`;
const AGE_CALLS = `
  UPDATE background_calls SET ended_at = ended_at - ${AGE}, created_at = created_at - ${AGE},
    started_at = started_at - ${AGE}, backgrounded_at = backgrounded_at - ${AGE}
  WHERE background_calls.target_id = $1`;
const AGE_MESSAGES = `UPDATE messages SET created_at = created_at - ${AGE} WHERE messages.target_id = $1`;
const AGE_EVENTS = `UPDATE events SET created_at = created_at - ${AGE} WHERE events.target_id = $1`;
const AGE_TARGET = `
  UPDATE targets SET created_at = created_at - ${AGE} WHERE targets.id = $1`;
const AGE_TURNS = `UPDATE ended_turns SET ended_at = ended_at - ${AGE} WHERE ended_turns.target_id = $1`;
const TARGET = 'SELECT targets.id FROM targets WHERE targets.session_id = $1';
const LEFT = `
  SELECT (SELECT count(*) FROM background_calls WHERE background_calls.target_id = $1) AS calls,
    (SELECT count(*) FROM call_results JOIN background_calls ON background_calls.id = call_results.call_id
      WHERE background_calls.target_id = $1) AS results,
    (SELECT count(*) FROM notifications WHERE notifications.target_id = $1) AS notifications,
    (SELECT count(*) FROM messages WHERE messages.target_id = $1) AS messages,
    (SELECT count(*) FROM events WHERE events.target_id = $1) AS events`;
const NOTHING = { calls: 0, results: 0, notifications: 0, messages: 0, events: 0 };
const LONG_TEXT = 'x'.repeat(20_000);

describe('what is older than the retention', () => {
  let workspaces: string;
  let upstream: McpTestServer;
  let service: TestService;
  let engine: Engine;

  beforeAll(async () => {
    workspaces = await mkdtemp(join(tmpdir(), 'bgc-workspaces-'));
    upstream = await McpTestServer.start();
    service = await TestService.start({ env: { BGC_WORKSPACES_DIR: workspaces } });
    await service.register('test', upstream.url);
  });

  afterAll(async () => {
    await service.stop();
    await upstream.stop();
    await rm(workspaces, { recursive: true });
  });

  beforeEach(() => {
    engine = service.session();
  });

  const folder = (): string =>
    join(workspaces, 'default', 'sessions', engine.sessionId, '.agent', 'mcp');

  /** A call that has ended with a result which is a file, too. */
  async function anEndedCall(): Promise<string> {
    const { id } = await engine.callInBackground('gate', { name: engine.sessionId });
    upstream.release(engine.sessionId, { content: [{ type: 'text', text: LONG_TEXT }] });
    await eventually('it has ended', async () => (await engine.get(id)).status === 'completed');
    return id;
  }

  async function targetId(): Promise<number> {
    const [target] = await service.sql<{ id: number }>(TARGET, [engine.sessionId]);
    return target!.id;
  }

  /** Everything of the session happened 31 days ago. */
  async function grow(): Promise<number> {
    const id = await targetId();
    for (const sql of [AGE_CALLS, AGE_MESSAGES, AGE_EVENTS, AGE_TARGET, AGE_TURNS])
      await service.sql(sql, [id]);
    return id;
  }

  async function sweep(): Promise<void> {
    const sweeper = service.get(RetentionSweeper);
    while (await sweeper.sweep(DAYS));
  }

  async function left(id: number): Promise<object> {
    return (await service.sql<object>(LEFT, [id]))[0]!;
  }

  it('is removed with its result, files, message and events, once it was told', async () => {
    const id = await anEndedCall();
    await engine.receive([id]);
    await writeFile(join(folder(), `.${id}-left-behind.tmp`), 'half');
    await writeFile(join(folder(), 'of-the-agent.txt'), 'mine');
    const target = await grow();
    await sweep();
    expect(await left(target)).toEqual(NOTHING);
    expect(await readdir(folder())).toEqual(['of-the-agent.txt']);
    const answer = await service.agent.get(`/v1/background-calls/${id}/result`);
    expect(answer.status).toBe(404);
    expect(await service.sql(TARGET, [engine.sessionId])).toEqual([]);
    const again = await anEndedCall();
    expect(await engine.receive([again])).toHaveLength(1);
  });

  it('stays when it is younger', async () => {
    const id = await anEndedCall();
    await engine.receive([id]);
    await sweep();
    expect(await engine.get(id)).toMatchObject({ status: 'completed' });
    expect(await readdir(folder())).toEqual([`${id}.txt`]);
    expect(await left(await targetId())).toMatchObject({ calls: 1, messages: 1 });
  });

  it('stays while it waits to be told, is out, or could not be delivered', async () => {
    await engine.startTurn('turn-1');
    const id = await anEndedCall();
    await grow();
    await sweep();
    await engine.endTurn('turn-1');
    const [message] = await engine.messages(5);
    await grow();
    await sweep();
    const uuid = fromPublicId('msg', message.id);
    await service.sql(
      `UPDATE messages SET state = 'dead', dead_reason = 'too_old', next_attempt_at = NULL WHERE id = $1`,
      [uuid],
    );
    await grow();
    await sweep();
    expect(await engine.get(id)).toMatchObject({ status: 'completed', message: { state: 'dead' } });
    expect(await readdir(folder())).toEqual([`${id}.txt`]);

    const target = await grow();
    await service.sql(
      `UPDATE messages SET state = 'discarded', dead_reason = NULL WHERE messages.id = $1`,
      [uuid],
    );
    await sweep();
    expect(await left(target)).toMatchObject({ calls: 0, messages: 0 });
  });

  it('goes with the last call that a message tells of', async () => {
    await engine.startTurn('turn-1');
    const calls = [await anEndedCall(), await anEndedCall()];
    await engine.endTurn('turn-1');
    expect(await engine.receive(calls)).toHaveLength(1);
    const target = await grow();
    await service.sql(
      `UPDATE background_calls SET ended_at = now() WHERE background_calls.id = $1`,
      [fromPublicId('bgc', calls[1]!)],
    );
    await sweep();
    expect(await left(target)).toMatchObject({ calls: 1, messages: 1 });
    await grow();
    await sweep();
    expect(await left(target)).toMatchObject({ calls: 0, messages: 0 });
  });

  it('stays where its files can not be removed, and stops nothing else', async () => {
    const stuck = engine;
    const kept = await anEndedCall();
    await engine.receive([kept]);
    await grow();
    await rm(folder(), { recursive: true });
    await writeFile(folder(), 'no folder');
    const brokenFolder = folder();
    engine = service.session();
    const removed = await anEndedCall();
    await engine.receive([removed]);
    const target = await grow();
    await sweep();
    expect(await left(target)).toEqual(NOTHING);
    expect(await stuck.get(kept)).toMatchObject({ status: 'completed' });

    await rm(brokenFolder);
    await mkdir(brokenFolder);
    await sweep();
    expect((await service.agent.get(`/v1/background-calls/${kept}`)).status).toBe(404);
  });

  it('leaves a session alone whose turn runs', async () => {
    await engine.startTurn('turn-1');
    const target = await grow();
    await sweep();
    expect(await left(target)).toMatchObject({ calls: 0 });
    expect(await service.sql(TARGET, [engine.sessionId])).toHaveLength(1);
  });

  it('is removed by itself', async () => {
    const id = await anEndedCall();
    await engine.receive([id]);
    await service.settings({ retention: { days: 0.00002 } });
    const isGone = async (): Promise<boolean> =>
      (await service.agent.get(`/v1/background-calls/${id}`)).status === 404;
    await eventually('it is gone', isGone);
    await service.settings({ retention: { days: DAYS } });
  });
});
