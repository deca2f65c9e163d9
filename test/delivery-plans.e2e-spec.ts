import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Transaction } from '../src/database/database.js';
import { CallDeliveries } from '../src/delivery/call-deliveries.repository.js';
import { DeliverableRepository } from '../src/delivery/deliverable.repository.js';
import { MessageRepository } from '../src/delivery/message.repository.js';
import { NotificationRepository } from '../src/delivery/notification.repository.js';
import { MessageAttemptRepository } from '../src/delivery/webhook/message-attempt.repository.js';
import { TriedMessageRepository } from '../src/delivery/webhook/tried-message.repository.js';
import { TargetRepository } from '../src/targets/target.repository.js';
import { TurnRepository } from '../src/targets/turn.repository.js';
import { QueryPlans } from './support/query-plans.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const ID = '01935f2e-0000-7000-8000-00000000f0f0';
const APP = { appId: ID };
const SESSION = { appId: ID, sessionId: 's' };
const TURN = { targetId: 1, turnId: 't' };
const TURN_KEY = { appId: ID, address: { type: 'session', sessionId: 's' }, turnId: 't' } as const;

const HANDED_OUT = { id: ID, targetId: 1, body: '{}', attempts: 1, handOut: 1, told: [] };
const A_TRY = {
  outcome: { kind: 'failed' },
  status: 500,
  error: null,
  startedAt: new Date(),
  durationMs: 1,
} as const;

const deliverable = new DeliverableRepository();
const messages = new MessageRepository();
const notifications = new NotificationRepository();
const tried = new TriedMessageRepository();
const attempts = new MessageAttemptRepository();
const turns = new TurnRepository();
const targets = new TargetRepository();

const STATEMENTS: [string, (tx: Transaction) => Promise<unknown>][] = [
  ['the claim of a session', (tx) => deliverable.lock(tx, SESSION, 1)],
  ['the claim of a whole app', (tx) => deliverable.lock(tx, APP, 100)],
  ['the tick', (tx) => deliverable.findDue(tx, [SESSION, APP])],
  ['the tick of webhooks', (tx) => deliverable.findDueApps(tx, [ID])],
  ['settling a webhook', (tx) => tried.find(tx, HANDED_OUT)],
  ['waiting for the next try', (tx) => tried.wait(tx, ID, 1, false)],
  ['writing down a try', (tx) => attempts.record(tx, { ...HANDED_OUT, handOut: 51 }, A_TRY)],
  ['hiding what was handed out', (tx) => deliverable.hide(tx, [1, 2], 60)],
  ['going on after an acknowledgement', (tx) => deliverable.goOn(tx, 1)],
  ['counting a try', (tx) => messages.countTry(tx, [1, 2])],
  ['finding a message', (tx) => messages.findOfSessions(tx, ID, ID)],
  ['acknowledging', (tx) => messages.end(tx, ID, 'delivered')],
  ['listing what waits', (tx) => notifications.listWaiting(tx, [1, 2], 20)],
  ['suppressing questions', (tx) => notifications.suppressQuestions(tx, ID, 'call_ended')],
  ['suppressing an end', (tx) => notifications.suppressEnd(tx, ID, 'already_read')],
  ['settling what waits', (tx) => deliverable.settle(tx, 1)],
  ['putting into messages', (tx) => notifications.putInMessages(tx, [])],
  ['the deliveries of calls', (tx) => new CallDeliveries().of(tx, [ID, ID])],
  ['renewing turns', (tx) => turns.renew(tx, [TURN], 900)],
  ['touching a turn', (tx) => turns.touch(tx, TURN, 900)],
  ['finding an ended turn', (tx) => turns.findEnded(tx, TURN)],
  ['recording an ended turn', (tx) => turns.recordEnded(tx, TURN, false)],
  ['finding interrupted turns', (tx) => turns.findInterrupted(tx, [TURN_KEY])],
  ['finding a target', (tx) => targets.find(tx, ID, TURN_KEY.address)],
];

let database: TestDatabase;
let plans: QueryPlans;

beforeAll(async () => {
  database = await createTestDatabase();
  plans = await QueryPlans.open(database.url);
});
afterAll(async () => {
  await plans?.close();
  await database.drop();
});

describe('no table is read as a whole by', () => {
  it.each(STATEMENTS)('%s', async (_, run) => {
    expect(await plans.of(run)).not.toContain('Seq Scan');
  });

  it('the claim of a whole app, which reads in the order of its index', async () => {
    // An empty table is cheaper to sort than to read in order.
    await plans.client.query('SET enable_sort = off');
    const plan = await plans.of((tx) => deliverable.lock(tx, APP, 100));
    await plans.client.query('RESET enable_sort');
    expect(plan).toContain('targets_undelivered');
    expect(plan).not.toContain('Sort');
  });

  it('beginning anew after a change of the delivery', async () => {
    const plan = await plans.of((tx) => tried.beginAnew(tx, ID), [{ id: 1 }]);
    expect(plan).not.toContain('Seq Scan');
  });

  it('the claim of webhooks, which reads what is due in the order of its index, and nothing else', async () => {
    await plans.client.query('SET enable_sort = off');
    const plan = await plans.of((tx) => deliverable.lockDue(tx, ID, 16));
    await plans.client.query('RESET enable_sort');
    expect(plan).toContain('Index Scan using targets_due');
    expect(plan).toMatch(/Index Cond: .*GREATEST\(undelivered_since, hidden_until\) <= now\(\)/);
    expect(plan).not.toContain('Sort');
  });
});
