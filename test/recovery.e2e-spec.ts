import { readdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { BackgroundCall, HandoverRequest } from '../src/background-calls/background-call.js';
import { BackgroundCallRegistry } from '../src/background-calls/background-call.registry.js';
import { CallDriver } from '../src/background-calls/call-driver.js';
import { CallTakeOver } from '../src/background-calls/take-over/call-take-over.js';
import { toPublicId } from '../src/common/ids.js';
import { ResultFiles } from '../src/delivery/files/result-files.js';
import { CallSweeper } from '../src/recovery/call-sweeper.js';
import { RecoveryService } from '../src/recovery/recovery.service.js';
import { aHandoverRequest } from './support/a-handover-request.js';
import { HeldTarget } from './support/held-target.js';
import { PlayedWork } from './support/played-work.js';
import { TestService } from './support/service.js';

/** No heartbeat and no sweep gets in between: the tests sweep by themselves. */
const BY_HAND = { BGC_INSTANCE_HEARTBEAT_SEC: '300', BGC_INSTANCE_LEASE_SEC: '3600' };
const REFERENCE = { kind: 'task', taskId: 'task-1' };
const SESSION = { type: 'session', sessionId: 's' } as const;
const BATCH = 200;
const TAKE_OVERS = 50;

const REFUSE_STUCK = `
  CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'it is stuck'; END $$;
  CREATE TRIGGER stuck BEFORE UPDATE ON background_calls
    FOR EACH ROW WHEN (OLD.tool = 'stuck' AND NEW.ended_at IS NOT NULL) EXECUTE FUNCTION refuse()`;
const PAST_DEADLINE = `
  UPDATE background_calls SET deadline_at = now() - interval '1 s' * $2 WHERE id = ANY($1::uuid[])`;
const OF_DEAD_OWNER = `
  UPDATE background_calls
  SET owner_id = gen_random_uuid(), started_at = now() - interval '1 s' * $2
  WHERE id = ANY($1::uuid[])`;
const COMPLETE = `
  UPDATE background_calls
  SET status = 'completed', ended_at = now(), upstream_reference = NULL, result_preview = 'x',
    result_is_error = false, result_bytes = 1, result_truncated = false
  WHERE id = $1`;
const BREAK_REFERENCE = `
  UPDATE background_calls SET upstream_reference = '{' WHERE id = ANY($1::uuid[])`;

/** Goes on with work that nobody ends. */
class EndlessDriver extends CallDriver {
  start(): never {
    throw new Error('nothing is begun here');
  }

  resume(): PlayedWork {
    return new PlayedWork();
  }
}

describe('a sweep', () => {
  let workspaces: string;
  let service: TestService;

  beforeEach(async () => {
    workspaces = await mkdtemp(join(tmpdir(), 'bgc-swept-'));
    service = await TestService.start({ env: { ...BY_HAND, BGC_WORKSPACES_DIR: workspaces } });
    await service.get(RecoveryService).stop();
    service.get(CallTakeOver).useDriver(new EndlessDriver());
  });
  afterEach(async () => {
    await service.stop();
    await rm(workspaces, { recursive: true });
  });

  it('ends a call whose reference can’t be read, and those after it', async () => {
    const torn = await handOver({ reference: REFERENCE });
    const sound = await handOver({ reference: REFERENCE });
    await service.sql(OF_DEAD_OWNER, [ids(torn, sound), 1]);
    await service.sql(BREAK_REFERENCE, [ids(torn)]);
    await service.sql(PAST_DEADLINE, [ids(torn), 20]);
    await service.sql(PAST_DEADLINE, [ids(sound), 10]);
    await sweep();
    expect(await statusOf(torn)).toBe('failed');
    expect(await statusOf(sound)).toBe('failed');
  });

  it('reaches a call behind more than a batch of those that can’t be ended', async () => {
    await service.sql(REFUSE_STUCK);
    const stuck = await handOverMany(BATCH + 1, { tool: 'stuck' });
    const sound = await handOver({});
    await service.sql(PAST_DEADLINE, [ids(...stuck), 20]);
    await service.sql(PAST_DEADLINE, [ids(sound), 10]);
    await sweep();
    expect(await statusOf(sound)).toBe('running');
    await sweep();
    expect(await statusOf(sound)).toBe('failed');
    await service.sql('DROP TRIGGER stuck ON background_calls');
    await sweep();
    await sweep();
    const left = await service.sql('SELECT 1 FROM background_calls WHERE ended_at IS NULL');
    expect(left).toEqual([]);
  });

  it('reaches a call behind take-overs that fail', async () => {
    const torn = await handOverMany(TAKE_OVERS, { reference: REFERENCE });
    const sound = await handOver({ reference: REFERENCE });
    await service.sql(OF_DEAD_OWNER, [ids(...torn), 20]);
    await service.sql(OF_DEAD_OWNER, [ids(sound), 10]);
    await service.sql(BREAK_REFERENCE, [ids(...torn)]);
    await sweep();
    expect(await isTakenOver(sound)).toBe(false);
    await sweep();
    expect(await isTakenOver(sound)).toBe(true);
  });

  it('leaves the files of a call that it does not take over yet', async () => {
    const calls = await handOverMany(TAKE_OVERS, { reference: REFERENCE, address: SESSION });
    const later = await handOver({ reference: REFERENCE, address: SESSION });
    for (const call of [calls[0]!, calls[1]!, later]) await writeFile(call);
    await service.sql(OF_DEAD_OWNER, [ids(...calls), 20]);
    await service.sql(OF_DEAD_OWNER, [ids(later), 10]);
    await sweep();
    expect(await readdir(filesOfSession())).toEqual([`${toPublicId('bgc', later.id)}.txt`]);
    await sweep();
    expect(await readdir(filesOfSession())).toEqual([]);
  });

  it('leaves the files of an end that was on its way when its owner was fenced', async () => {
    const call = await handOver({ reference: REFERENCE, address: SESSION });
    await writeFile(call);
    await service.sql(OF_DEAD_OWNER, [ids(call), 1]);
    const ending = await HeldTarget.hold(service.databaseUrl, SESSION.sessionId);
    await ending.write(COMPLETE, [call.id]);
    const { answer: swept } = await ending.queue(sweep);
    await ending.release();
    await swept;
    expect(await statusOf(call)).toBe('completed');
    expect(await readdir(filesOfSession())).toEqual([`${toPublicId('bgc', call.id)}.txt`]);
  });

  async function sweep(): Promise<void> {
    await service.get(CallSweeper).sweep();
  }

  async function handOver(changes: Partial<HandoverRequest>): Promise<BackgroundCall> {
    const [app] = await service.sql<{ id: string }>('SELECT apps.id FROM apps');
    const request = aHandoverRequest({ appId: app!.id, ignoreLimits: true, ...changes });
    const result = await service.get(BackgroundCallRegistry).handOver(request);
    if (result.kind !== 'moved') throw new Error(result.kind);
    return result.call;
  }

  async function handOverMany(
    count: number,
    changes: Partial<HandoverRequest>,
  ): Promise<BackgroundCall[]> {
    const calls: BackgroundCall[] = [];
    for (let n = 0; n < count; n++) calls.push(await handOver(changes));
    return calls;
  }

  async function writeFile(call: BackgroundCall): Promise<void> {
    const read = (): { extension: string; body: string } => ({ extension: 'txt', body: 'x' });
    const filed = await service.get(ResultFiles).write(call, [{ part: 0, isText: true, read }]);
    expect(filed).toBeDefined();
  }

  function filesOfSession(): string {
    return join(workspaces, 'default/sessions/s/.agent/mcp');
  }

  async function statusOf({ id }: BackgroundCall): Promise<string | undefined> {
    const sql = 'SELECT status FROM background_calls WHERE id = $1';
    return (await service.sql<{ status: string }>(sql, [id]))[0]?.status;
  }

  async function isTakenOver({ id }: BackgroundCall): Promise<boolean> {
    const sql = `SELECT 1 FROM background_calls JOIN instances ON instances.id = owner_id
      WHERE background_calls.id = $1`;
    return (await service.sql(sql, [id])).length === 1;
  }

  function ids(...calls: BackgroundCall[]): string[] {
    return calls.map(({ id }) => id);
  }
});
