import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Transaction } from '../src/database/database.js';
import { Acknowledgements } from '../src/delivery/acknowledgements.js';
import { DeliverableRepository } from '../src/delivery/deliverable.repository.js';
import { MessageClaims } from '../src/delivery/message-claims.js';
import { MessageInbox } from '../src/delivery/pull/message-inbox.js';
import { type HandedOutMessage, MessageRepository } from '../src/delivery/message.repository.js';
import type { LockedTarget } from '../src/targets/target.repository.js';
import { TurnService } from '../src/targets/turn.service.js';
import { barrier } from './support/barrier.js';
import { DeliveryService } from './support/delivery-service.js';
import { eventually } from './support/eventually.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const NEVER = new AbortController().signal;

let database: TestDatabase;
let service: DeliveryService;
let sessions = 0;
let sessionId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await DeliveryService.start(database.url);
});
afterAll(async () => {
  await service?.close();
  await database.drop();
});
beforeEach(() => {
  sessionId = `session-${++sessions}`;
});

const claim = (): Promise<HandedOutMessage[]> =>
  service.get(MessageClaims).claim({ appId: service.appId, sessionId });
const acknowledge = (id: string, turnId?: string): Promise<unknown> =>
  service.get(Acknowledgements).acknowledge(service.appId, id, turnId);
const toolsOf = (messages: HandedOutMessage[]): string[][] =>
  messages.map(({ body }) =>
    (JSON.parse(body) as { notifications: { tool: string }[] }).notifications.map(
      ({ tool }) => tool,
    ),
  );

/** Holds the target's lock on a connection of its own, has done `first`, and commits when told to. */
function holdLock(
  first: (tx: Transaction, target: LockedTarget) => Promise<unknown> = () => Promise.resolve(),
): {
  isHeld: Promise<void>;
  commit(last?: (tx: Transaction, target: LockedTarget) => Promise<unknown>): Promise<void>;
} {
  const held = barrier();
  const mayCommit = barrier();
  let last: typeof first = () => Promise.resolve();
  const done = service.withLock(sessionId, async (tx, target) => {
    await first(tx, target);
    held.open();
    await mayCommit.opened;
    await last(tx, target);
  });
  return {
    isHeld: Promise.race([held.opened, done]),
    commit: async (work = last) => {
      last = work;
      mayCommit.open();
      await done;
    },
  };
}

async function waitingForLock(count: number): Promise<void> {
  await eventually(`${count} transactions wait for a lock`, async () => {
    const rows = await service.database.query(
      `SELECT 1 FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length >= count;
  });
}

async function endVisibility(): Promise<void> {
  await service.database.query(
    `UPDATE targets SET hidden_until = now() - interval '1 ms' WHERE session_id = $1`,
    [sessionId],
  );
}

describe('concurrent claims', () => {
  it('hand a message out once', async () => {
    await service.endCall(sessionId);
    const lock = holdLock();
    await lock.isHeld;
    const claims = Array.from({ length: 10 }, claim);
    await waitingForLock(10);
    await lock.commit();
    expect((await Promise.all(claims)).flat()).toHaveLength(1);
  });

  it('of a whole app hand each message out once and do not wait for one another', async () => {
    const others = Array.from({ length: 20 }, (_, index) => `${sessionId}-${index}`);
    for (const other of others) await service.endCall(other);
    const claimAll = (): Promise<HandedOutMessage[]> =>
      service.get(MessageClaims).claim({ appId: service.appId });
    const claimed = (await Promise.all(Array.from({ length: 10 }, claimAll))).flat();
    const rest = await claimAll();
    const targets = [...claimed, ...rest].map(({ targetId }) => targetId);
    expect(targets).toHaveLength(others.length);
    expect(new Set(targets).size).toBe(others.length);
  });
});

describe('a claim against the start of a turn', () => {
  it('hands nothing out when the turn comes first', async () => {
    await service.endCall(sessionId);
    const lock = holdLock((tx, target) => service.get(TurnService).startIn(tx, target, 'turn-1'));
    await lock.isHeld;
    const claimed = claim();
    await waitingForLock(1);
    await lock.commit();
    expect(await claimed).toEqual([]);
  });

  it('leaves out a session that somebody holds, when it asks for the whole app', async () => {
    await service.endCall(sessionId);
    const lock = holdLock((tx, target) => service.get(TurnService).startIn(tx, target, 'turn-1'));
    await lock.isHeld;
    expect(await service.get(MessageClaims).claim({ appId: service.appId })).toEqual([]);
    await lock.commit();
  });

  it('is over before the turn begins when the claim comes first', async () => {
    await service.endCall(sessionId);
    const lock = holdLock();
    await lock.isHeld;
    const claimed = claim();
    await waitingForLock(1);
    const started = service.startTurn(sessionId, 'turn-1');
    await waitingForLock(2);
    await lock.commit();
    expect(await claimed).toHaveLength(1);
    expect((await started).body).toMatchObject({ running: true });
    await endVisibility();
    expect(await claim()).toEqual([]);
  });

  it('takes a turn that has run out as ended for good, also for a touch that waits meanwhile', async () => {
    await service.startTurn(sessionId, 'silent');
    await service.endCall(sessionId);
    await service.database.query(
      `UPDATE targets SET turn_expires_at = now() - interval '1 ms' WHERE session_id = $1`,
      [sessionId],
    );
    expect(await claim()).toHaveLength(1);
    await service.withLock(sessionId, (_, target) => {
      expect(target).toMatchObject({ turnId: null, expiredTurnId: null });
      return Promise.resolve();
    });
  });
});

describe('an acknowledgement against the end of a call', () => {
  it('does not lose the wake-up of a notification that is being written', async () => {
    await service.endCall(sessionId, { tool: 'first' });
    const [first] = await claim();
    const lock = holdLock((tx, target) => service.endCallIn(tx, target, { tool: 'second' }));
    await lock.isHeld;
    const acknowledged = acknowledge(first!.id);
    await waitingForLock(1);
    await lock.commit();
    await acknowledged;
    expect(toolsOf(await claim())).toEqual([['second']]);
  });

  it('does not let a claim that looked before it hand the message out once more', async () => {
    await service.endCall(sessionId, { tool: 'first' });
    const [first] = await claim();
    await endVisibility();
    const lock = holdLock();
    await lock.isHeld;
    const claimed = claim();
    await waitingForLock(1);
    await lock.commit(async (tx, target) => {
      await service.get(MessageRepository).end(tx, first!.id, 'delivered');
      await service.endCallIn(tx, target, { tool: 'second' });
      await service.get(DeliverableRepository).goOn(tx, target.id);
    });
    expect(toolsOf(await claimed)).toEqual([['second']]);
  });

  it('opens its turn before anything else is handed out', async () => {
    await service.endCall(sessionId, { tool: 'first' });
    const [first] = await claim();
    await service.endCall(sessionId, { tool: 'second' });
    await endVisibility();
    const lock = holdLock();
    await lock.isHeld;
    const acknowledged = acknowledge(first!.id, 'turn-1');
    await waitingForLock(1);
    const claimed = claim();
    await waitingForLock(2);
    await lock.commit();
    await acknowledged;
    expect(await claimed).toEqual([]);
  });
});

describe('a receiver that goes away', () => {
  it('between the claim and the answer leaves the message available at once', async () => {
    await service.endCall(sessionId);
    const lock = holdLock();
    await lock.isHeld;
    const receiver = new AbortController();
    const scope = { appId: service.appId, sessionId };
    const polled = service.get(MessageInbox).poll(scope, 30_000, receiver.signal);
    await waitingForLock(1);
    receiver.abort();
    await lock.commit();
    expect(await polled).toEqual([]);
    const [message] = await service.get(MessageInbox).poll(scope, 0, NEVER);
    expect(message?.attempts).toBe(2);
  });

  it('takes nothing when it is gone before the claim', async () => {
    await service.endCall(sessionId);
    const scope = { appId: service.appId, sessionId };
    expect(await service.get(MessageInbox).poll(scope, 30_000, AbortSignal.abort())).toEqual([]);
    expect((await claim())[0]?.attempts).toBe(1);
  });

  it('does not bring back a message that was handed out to another one meanwhile', async () => {
    await service.endCall(sessionId);
    const [first] = await claim();
    await endVisibility();
    const [second] = await claim();
    await service.get(MessageInbox).giveBack([first!]);
    expect(await claim()).toEqual([]);
    await service.get(MessageInbox).giveBack([second!]);
    expect(await claim()).toHaveLength(1);
  });

  it('does not bring back a message that was acknowledged meanwhile', async () => {
    await service.endCall(sessionId);
    const [message] = await claim();
    await acknowledge(message!.id);
    await service.get(MessageInbox).giveBack([message!]);
    expect(await claim()).toEqual([]);
  });
});
