import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { TurnInterruptedError } from '../src/targets/turn-interrupted.error.js';
import type { TurnHold } from '../src/targets/turn-renewal.js';
import { ENDED_TURNS_KEPT, type TurnKey } from '../src/targets/turn.repository.js';
import { TurnService } from '../src/targets/turn.service.js';
import { useDeliveryServices } from './support/delivery-fixture.js';
import type { DeliveryService } from './support/delivery-service.js';
import { eventually } from './support/eventually.js';

let service: DeliveryService;
let replica: DeliveryService;
let session: string;
useDeliveryServices((fresh) => ({ service, replica, session } = fresh));

async function runningTurn(): Promise<string | null> {
  const [row] = await service.database.query<{ turnId: string }>(
    `SELECT turn_id AS "turnId" FROM targets WHERE session_id = $1 AND turn_expires_at > now()`,
    [session],
  );
  return row?.turnId ?? null;
}

async function events(): Promise<string[]> {
  const rows = await service.database.query<{ line: string }>(
    `SELECT concat_ws(' ', events.type, events.data->>'turnId', events.data->>'reason') AS line
     FROM events JOIN targets ON targets.id = events.target_id
     WHERE targets.session_id = $1 ORDER BY events.id`,
    [session],
  );
  return rows.map(({ line }) => line);
}

async function letTurnExpire(): Promise<void> {
  await service.database.query(
    `UPDATE targets SET turn_expires_at = now() - interval '1 ms' WHERE session_id = $1`,
    [session],
  );
}

async function expiresAt(): Promise<number> {
  const [row] = await service.database.query<{ at: Date | null }>(
    'SELECT turn_expires_at AS at FROM targets WHERE session_id = $1',
    [session],
  );
  return row?.at?.getTime() ?? 0;
}

function turn(turnId: string): TurnKey {
  return { appId: service.appId, address: { type: 'session', sessionId: session }, turnId };
}

function hold(turnId: string, on = service): Promise<TurnHold> {
  return on.get(TurnService).hold(service.appId, { type: 'session', sessionId: session }, turnId);
}

describe('turns over HTTP', () => {
  it('begin with the id that the engine gives', async () => {
    const response = await service.startTurn(session, 'turn-1');
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ turnId: 'turn-1', running: true });
    expect(await runningTurn()).toBe('turn-1');
    expect(await events()).toEqual(['turn.started turn-1']);
  });

  it('get an id when the engine gives none', async () => {
    const { turnId } = (await service.startTurn(session)).body as { turnId: string };
    expect(turnId).toMatch(/^[A-Za-z0-9._:@-]{1,128}$/);
    expect(await runningTurn()).toBe(turnId);
    const withoutBody = await service.send('POST', `/v1/sessions/${session}/turns`);
    expect(withoutBody.status).toBe(200);
  });

  it('replace an older turn, which is then ended for good', async () => {
    await service.startTurn(session, 'older');
    await service.startTurn(session, 'newer');
    expect(await runningTurn()).toBe('newer');
    expect((await service.startTurn(session, 'older')).body).toEqual({
      turnId: 'older',
      running: false,
    });
    expect(await runningTurn()).toBe('newer');
    expect(await events()).toEqual([
      'turn.started older',
      'turn.ended older replaced',
      'turn.started newer',
    ]);
  });

  it('end, and are not opened again', async () => {
    await service.startTurn(session, 'turn-1');
    const response = await service.endTurn(session, 'turn-1');
    expect(response.status).toBe(200);
    expect(await runningTurn()).toBeNull();
    await service.startTurn(session, 'turn-1');
    expect(await runningTurn()).toBeNull();
    expect((await service.endTurn(session, 'turn-1')).status).toBe(200);
    expect(await events()).toEqual(['turn.started turn-1', 'turn.ended turn-1 ended']);
  });

  it('are not touched by the late end of an older turn', async () => {
    await service.startTurn(session, 'older');
    await service.startTurn(session, 'newer');
    expect((await service.endTurn(session, 'older')).status).toBe(200);
    expect((await service.endTurn(session, 'never-seen')).status).toBe(200);
    expect(await runningTurn()).toBe('newer');
  });

  it('do not begin when their end came first', async () => {
    await service.endTurn(session, 'overtaken');
    expect((await service.startTurn(session, 'overtaken')).body).toMatchObject({ running: false });
    expect(await runningTurn()).toBeNull();
  });

  it('count as ended after the idle time, and a touch does not revive them', async () => {
    await service.startTurn(session, 'silent');
    expect((await service.touchTurn(session, 'silent')).body).toMatchObject({ running: true });
    await letTurnExpire();
    expect(await runningTurn()).toBeNull();
    expect((await service.touchTurn(session, 'silent')).body).toMatchObject({ running: false });
    expect((await service.startTurn(session, 'silent')).body).toMatchObject({ running: false });
    expect(await runningTurn()).toBeNull();
    expect(await events()).toEqual(['turn.started silent', 'turn.ended silent idle']);
  });

  it('have the whole idle time before them again after a touch', async () => {
    await service.set({ turns: { idleTimeoutSec: 10 } });
    await service.startTurn(session, 'turn-1');
    const before = await expiresAt();
    await service.set({ turns: { idleTimeoutSec: 1_000 } });
    expect((await service.touchTurn(session, 'turn-1')).status).toBe(200);
    expect(await expiresAt()).toBeGreaterThan(before + 900_000);
  });

  it('leave no trace when an unknown session is touched', async () => {
    expect((await service.touchTurn(session, 'turn-1')).body).toMatchObject({ running: false });
    expect(
      await service.database.query('SELECT 1 FROM targets WHERE session_id = $1', [session]),
    ).toEqual([]);
  });

  it('refuse ids that no engine makes, unknown fields and wrong values', async () => {
    expect((await service.startTurn(session, 'a/b')).body).toMatchObject({
      code: 'invalid_request',
      errors: [{ pointer: '/turnId' }],
    });
    const unknown = await service.send('POST', `/v1/sessions/${session}/turns`, { turn: 'x' });
    expect(unknown.body).toMatchObject({ status: 400, errors: [{ pointer: '/turn' }] });
    const wrong = await service.send('POST', `/v1/sessions/${session}/turns/t/end`, {
      interrupted: 'yes',
    });
    expect(wrong.body).toMatchObject({ status: 400, errors: [{ pointer: '/interrupted' }] });
    expect((await service.startTurn('a%20b', 'turn-1')).status).toBe(404);
    expect((await service.endTurn(session, '..%2f', true)).status).toBe(404);
  });

  it('are remembered up to a number for each session', async () => {
    await service.startTurn(session, 'turn-0');
    await service.database.query(
      `INSERT INTO ended_turns (target_id, turn_id, interrupted, ended_at)
       SELECT targets.id, 'old-' || n, false, now() - n * interval '1 minute'
       FROM targets, generate_series(1, $2) AS n WHERE targets.session_id = $1`,
      [session, ENDED_TURNS_KEPT + 20],
    );
    await service.endTurn(session, 'turn-0');
    const rows = await service.database.query<{ turn: string }>(
      `SELECT ended_turns.turn_id AS turn FROM ended_turns JOIN targets ON targets.id = target_id
       WHERE targets.session_id = $1 ORDER BY ended_turns.ended_at DESC`,
      [session],
    );
    expect(rows).toHaveLength(ENDED_TURNS_KEPT);
    expect(rows.slice(0, 2)).toEqual([{ turn: 'turn-0' }, { turn: 'old-1' }]);
  });
});

describe('an interrupted turn', () => {
  it('is told here right after the commit, and on other replicas', async () => {
    const told: string[] = [];
    service.get(TurnService).onInterrupted(({ turnId }) => told.push(`here ${turnId}`));
    replica.get(TurnService).onInterrupted(({ turnId }) => told.push(`there ${turnId}`));
    await service.startTurn(session, 'turn-1');
    await service.endTurn(session, 'turn-1', true);
    await eventually('the other replica is told', () => told.includes('there turn-1'));
    await service.endTurn(session, 'mark', true);
    await eventually('the second telling', () => told.includes('there mark'));
    expect(told.sort()).toEqual(['here mark', 'here turn-1', 'there mark', 'there turn-1']);
  });

  it('is told before the request is answered', async () => {
    let told: TurnKey | undefined;
    service.get(TurnService).onInterrupted((key) => (told = key));
    await service.endTurn(session, 'turn-1', true);
    expect(told).toEqual(turn('turn-1'));
  });

  it('leaves a mark that every replica can look up', async () => {
    await service.startTurn(session, 'current');
    await service.endTurn(session, 'other', true);
    const found = await replica
      .get(TurnService)
      .findInterrupted([turn('current'), turn('other'), turn('unknown')]);
    expect(found).toEqual([turn('other')]);
    await service.withLock(session, async (tx, target) => {
      const turns = service.get(TurnService);
      expect(await turns.isInterrupted(tx, target.id, 'other')).toBe(true);
      expect(await turns.isInterrupted(tx, target.id, 'current')).toBe(false);
    });
    expect(await runningTurn()).toBe('current');
  });

  it('may be interrupted after it ended', async () => {
    await service.startTurn(session, 'turn-1');
    await service.endTurn(session, 'turn-1');
    await service.endTurn(session, 'turn-1', true);
    await service.endTurn(session, 'turn-1', false);
    expect(await service.get(TurnService).findInterrupted([turn('turn-1')])).toHaveLength(1);
  });

  it('refuses further calls, on every replica', async () => {
    (await hold('turn-1')).release();
    (await hold('turn-1', replica)).release();
    await service.endTurn(session, 'turn-1', true);
    await expect(hold('turn-1')).rejects.toThrow(TurnInterruptedError);
    await eventually('the other replica refuses it', () =>
      hold('turn-1', replica)
        .then(
          (held) => held.release(),
          (error) => error instanceof TurnInterruptedError,
        )
        .then((refused) => refused === true),
    );
  });
});

describe('a call that names its turn', () => {
  it('opens the turn once, and further calls of the turn write nothing', async () => {
    const held = await hold('turn-1');
    expect(await runningTurn()).toBe('turn-1');
    const statements: string[] = [];
    const original = service.database.transaction.bind(service.database);
    service.database.transaction = (work) => {
      statements.push('transaction');
      return original(work);
    };
    const further = await Promise.all([hold('turn-1'), hold('turn-1')]);
    service.database.transaction = original;
    expect(statements).toEqual([]);
    for (const each of [held, ...further]) each.release();
  });

  it('opens the turn once when several calls begin it together', async () => {
    const holds = await Promise.all([hold('turn-1'), hold('turn-1'), hold('turn-1')]);
    expect(await events()).toEqual(['turn.started turn-1']);
    for (const each of holds) each.release();
  });

  it('keeps the turn alive until it is released', async () => {
    await service.set({ turns: { idleTimeoutSec: 1.5 } });
    const held = await hold('turn-1');
    const first = await expiresAt();
    await eventually('the turn was renewed twice its idle time', async () => {
      return (await expiresAt()) > first + 3_000;
    });
    expect(await runningTurn()).toBe('turn-1');
    held.release();
    held.release();
    await eventually('the turn expires', async () => (await runningTurn()) === null);
  });

  it('keeps the turn alive although others hold its row', async () => {
    await service.set({ turns: { idleTimeoutSec: 0.6 } });
    const held = await hold('turn-1');
    const first = await expiresAt();
    await eventually('it is renewed between the locks', async () => {
      await service.withLock(session, () => sleep(50));
      return (await expiresAt()) > first + 1_200;
    });
    expect(await runningTurn()).toBe('turn-1');
    held.release();
  });

  it('does not keep a turn alive that was ended or replaced on another replica', async () => {
    await service.set({ turns: { idleTimeoutSec: 0.3 } });
    const held = await hold('older');
    await replica.startTurn(session, 'newer');
    const untouched = await expiresAt();
    const again = await hold('older');
    expect(await runningTurn()).toBe('newer');
    await eventually(
      'the newer turn expires by itself',
      async () => (await runningTurn()) === null,
    );
    expect(await expiresAt()).toBe(untouched);
    for (const each of [held, again]) each.release();
  });

  it('goes on in an ended turn without opening it', async () => {
    await service.endTurn(session, 'ended');
    (await hold('ended')).release();
    expect(await runningTurn()).toBeNull();
  });
});
