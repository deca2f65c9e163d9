import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BackgroundCall } from '../src/background-calls/background-call.js';
import { BackgroundCallRegistry } from '../src/background-calls/background-call.registry.js';
import { InFlightCalls } from '../src/background-calls/in-flight/in-flight-calls.js';
import { toPublicId } from '../src/common/ids.js';
import { aHandoverRequest } from './support/a-handover-request.js';
import type { Engine } from './support/engine.js';
import { eventually } from './support/eventually.js';
import { PlayedWork } from './support/played-work.js';
import { TestService } from './support/service.js';

const TASK = { kind: 'task', url: 'http://upstream/', taskId: 'task\0-1 \ud800' };
const STREAM = { kind: 'stream', url: 'http://upstream/', sessionId: 'secret', lastEventId: '1' };
const STORED = `
  SELECT background_calls.upstream_reference AS reference FROM background_calls
  WHERE background_calls.id = $1`;

describe('what another process needs to go on with a call', () => {
  let service: TestService;
  let engine: Engine;
  let appId: string;

  beforeAll(async () => {
    service = await TestService.start();
    appId = (await service.sql<{ id: string }>('SELECT apps.id FROM apps'))[0]?.id ?? '';
  });

  afterAll(() => service.stop());

  beforeEach(() => {
    engine = service.session();
  });

  it('is in the row when the caller is answered, with the driver that it names', async () => {
    const call = await handedOver(TASK);
    expect(await stored(call)).toEqual(TASK);
    expect(await engine.get(publicId(call))).toMatchObject({ driver: 'task' });
  });

  it('is written when it is told later, in its latest form', async () => {
    const call = await handedOver();
    expect(await engine.get(publicId(call))).toMatchObject({ driver: 'plain' });
    const work = adopt(call);
    work.tell(STREAM);
    for (const lastEventId of ['2', '3', '4']) work.tell({ ...STREAM, lastEventId });
    await eventually('the last is written', async () => (await stored(call))?.lastEventId === '4');
    expect(await engine.get(publicId(call))).toMatchObject({ driver: 'plain' });
    work.tell(TASK);
    await eventually('the task is written', async () => (await stored(call))?.kind === 'task');
    expect(await engine.get(publicId(call))).toMatchObject({ driver: 'task' });
  });

  it('is shown to nobody, and is gone when the call has ended', async () => {
    const call = await handedOver({ ...STREAM, kind: 'task' });
    const shown = [await engine.get(publicId(call)), await engine.list()];
    expect(JSON.stringify(shown)).not.toContain(STREAM.sessionId);
    adopt(call).succeed('done');
    const ended = await engine.get(publicId(call), 10);
    expect(ended).toMatchObject({ status: 'completed', driver: 'task' });
    expect(await stored(call)).toBeNull();
  });

  it('is not written over by a process whose call it is not any more', async () => {
    const call = await handedOver(TASK);
    const work = adopt(call);
    const takeAway = `UPDATE background_calls SET owner_id = gen_random_uuid() WHERE id = $1`;
    await service.sql(takeAway, [call.id]);
    const other = await handedOver();
    const otherWork = adopt(other);
    work.tell(STREAM);
    otherWork.tell(STREAM);
    await eventually('the other is written', async () => (await stored(other))?.kind === 'stream');
    expect(await stored(call)).toEqual(TASK);
  });

  it('is not kept when it is too large, and the call goes on without it', async () => {
    const call = await handedOver({ ...TASK, taskId: 'x'.repeat(20_000) });
    expect(await stored(call)).toBeNull();
    const work = adopt(call);
    work.tell({ ...TASK, taskId: 'x'.repeat(20_000) });
    work.succeed('done');
    expect(await engine.get(publicId(call), 10)).toMatchObject({ status: 'completed' });
  });

  async function handedOver(reference?: object): Promise<BackgroundCall> {
    const address = { type: 'session', sessionId: engine.sessionId } as const;
    const request = aHandoverRequest({ appId, address, reference });
    const result = await service.get(BackgroundCallRegistry).handOver(request);
    if (result.kind !== 'moved') throw new Error(result.kind);
    return result.call;
  }

  function adopt(call: BackgroundCall): PlayedWork {
    const work = new PlayedWork();
    service.get(InFlightCalls).adopt(call, call.policy, work);
    return work;
  }

  async function stored(call: BackgroundCall): Promise<Record<string, unknown> | null> {
    const [row] = await service.sql<{ reference: string | null }>(STORED, [call.id]);
    return JSON.parse(row?.reference ?? 'null') as Record<string, unknown> | null;
  }
});

function publicId(call: BackgroundCall): string {
  return toPublicId('bgc', call.id);
}
