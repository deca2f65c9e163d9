import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BackgroundCall, HandoverRequest } from '../src/background-calls/background-call.js';
import {
  BackgroundCallRepository,
  type EndGuard,
} from '../src/background-calls/background-call.repository.js';
import { CANCELLED } from '../src/background-calls/call-ending.js';
import {
  type CallFilter,
  CallListRepository,
} from '../src/background-calls/call-list.repository.js';
import { InputRequestRepository } from '../src/background-calls/questions/input-request.repository.js';
import { QueuedCallRepository } from '../src/background-calls/queue/queued-call.repository.js';
import { HandoverLimitsRepository } from '../src/background-calls/handover/handover-limits.repository.js';
import { TakeOverRepository } from '../src/background-calls/take-over/take-over.repository.js';
import {
  type ToldReference,
  WorkSignsRepository,
} from '../src/background-calls/in-flight/work-signs.repository.js';
import type { Transaction } from '../src/database/database.js';
import { InstanceRepository } from '../src/instances/instance.repository.js';
import { SweepRepository } from '../src/recovery/sweep.repository.js';
import { aHandoverRequest } from './support/a-handover-request.js';
import { QueryPlans } from './support/query-plans.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const ID = '01935f2e-0000-7000-8000-00000000f0f0';
/** Cursors before which, in the order of the list, no call lies. */
const AFTER = {
  asc: { createdAt: '2001-01-31T12:00:00.000Z', id: ID },
  desc: { createdAt: '2199-01-31T12:00:00.000Z', id: ID },
};
const REQUEST: HandoverRequest = aHandoverRequest({ appId: ID });
const REFERENCE: ToldReference = {
  call: { id: ID, ownerId: ID } as BackgroundCall,
  text: '{}',
  driver: 'plain',
};

const calls = new BackgroundCallRepository();
const signs = new WorkSignsRepository();
const inputs = new InputRequestRepository();
const queued = new QueuedCallRepository();
const takeOvers = new TakeOverRepository();
const lists = new CallListRepository();
const limits = new HandoverLimitsRepository();
const sweeps = new SweepRepository();
const instances = new InstanceRepository();
const list = (tx: Transaction, filter: CallFilter, order: 'asc' | 'desc'): Promise<unknown> =>
  lists.list(tx, filter, { limit: 20, after: AFTER[order], order });
const end = (tx: Transaction, guard: EndGuard): Promise<unknown> =>
  calls.end(tx, ID, CANCELLED, guard, guard === 'owner' ? ID : null);

/** With an index that each must use, so that a plan which merely avoids the scan does not pass. */
const STATEMENTS: [string, string, (tx: Transaction) => Promise<unknown>][] = [
  ['the list of a session', '_target ', (tx) => list(tx, { targetId: 1 }, 'desc')],
  ['the same, oldest first', '_target ', (tx) => list(tx, { targetId: 1 }, 'asc')],
  ['the list of all calls', '_created ', (tx) => list(tx, {}, 'desc')],
  [
    'what waits to be told',
    'notifications_',
    (tx) => list(tx, { deliveries: ['waiting'] }, 'desc'),
  ],
  ['one call', '_pk ', (tx) => calls.find(tx, ID)],
  ['a handover', 'instances_pk', (tx) => calls.insert(tx, REQUEST, 1, ID)],
  ['an ending by the owner', '_pk ', (tx) => end(tx, 'owner')],
  ['an ending by a cancel', '_pk ', (tx) => end(tx, 'cancel')],
  ['an ending by the deadline', '_pk ', (tx) => end(tx, 'deadline')],
  ['an ending for a dead owner', '_pk ', (tx) => end(tx, 'dead-owner')],
  ['the mark before the upstream is asked', '_pk ', (tx) => calls.markDispatched(tx, ID, ID)],
  ['the next target of the queue', '_queued', (tx) => queued.nextTarget(tx, [])],
  ['the next calls of a target', '_queued', (tx) => queued.heads(tx, 1)],
  ['whether calls of a target wait', '_queued', (tx) => queued.hasWaiting(tx, 1)],
  ['a start from the queue', '_pk ', (tx) => queued.start(tx, ID, ID)],
  ['a take-over', '_pk ', (tx) => takeOvers.takeOver(tx, ID, ID)],
  ['a return to the queue', '_pk ', (tx) => calls.requeue(tx, ID, 'dead-owner', null)],
  ['the request of a cancel', '_pk ', (tx) => calls.requestCancel(tx, ID)],
  ['progress', '_running_owner', (tx) => signs.writeProgress(tx, new Map([[ID, {}]]), ID)],
  ['references', '_pk ', (tx) => signs.writeReferences(tx, [REFERENCE])],
  ['a question', '_pk ', (tx) => inputs.ask(tx, ID, ID, 1, { message: '', schema: '{}' })],
  ['whether a question is asked', 'input_requests_pk', (tx) => inputs.isAsked(tx, ID, ID, 1)],
  ['going on after an answer', '_pk ', (tx) => inputs.resume(tx, ID, 1)],
  ['closing a question', 'input_requests_', (tx) => inputs.close(tx, ID, 'withdrawn')],
  ['finding a question', 'input_requests_pk', (tx) => inputs.find(tx, ID, undefined)],
  ['looking for answers', 'input_requests_', (tx) => inputs.listSettled(tx, new Map([[ID, 1]]))],
  ['a result', 'call_results_pk', (tx) => calls.findResult(tx, ID)],
  ['the count of a target', '_running_target', (tx) => limits.runningOfTarget(tx, 1)],
  ['the count of an agent', '_running_', (tx) => limits.runningOfAgent(tx, ID, 'agent')],
  ['the count of all', '_running_', (tx) => limits.runningOfAll(tx)],
  ['the sweep of dead owners', '_running_', (tx) => sweeps.ofDeadOwners(tx, [ID])],
  ['the sweep of deadlines', '_running_deadline', (tx) => sweeps.pastDeadline(tx, [ID])],
  ['the sweep of cancels', '_running_cancel', (tx) => sweeps.overdueCancels(tx, [ID])],
  ['the rows of one owner', '_running_owner', (tx) => sweeps.ofOwner(tx, ID)],
  ['a heartbeat', 'instances_pk', (tx) => instances.renew(tx, ID, 12)],
  ['fencing', 'instances_lease', (tx) => instances.fenceExpired(tx, ID)],
];

/** 100 sessions with 2,000 calls, of which 200 run: the planner then has something to choose from. */
const FILL = `
  INSERT INTO apps (id, name) VALUES ('${ID}', 'plans');
  INSERT INTO targets (app_id, kind, session_id)
    SELECT '${ID}', 'session', 'session-' || n FROM generate_series(1, 100) AS n;
  INSERT INTO instances (id, host, pid, lease_until)
    SELECT gen_random_uuid(), 'host', n, now() + n * interval '1 s' FROM generate_series(1, 200) AS n;
  INSERT INTO background_calls (id, app_id, target_id, status, handover, owner_id, agent_id, server_id,
    server_name, server_title, tool, arguments, policy, deadline_at, cancel_requested_at, created_at, ended_at)
    SELECT gen_random_uuid(), '${ID}', (SELECT min(targets.id) FROM targets) + n % 100,
      CASE WHEN n % 10 = 0 THEN 'running' ELSE 'completed' END, 'auto', gen_random_uuid(), 'agent-' || n % 50,
      gen_random_uuid(), 'test', 'Test', 'tool', '{}', '{}', now() + n * interval '1 min',
      CASE WHEN n % 100 = 0 THEN now() + n * interval '1 min' END, now() - n * interval '1 min',
      CASE WHEN n % 10 = 0 THEN NULL ELSE now() END
    FROM generate_series(1, 2000) AS n;
  ANALYZE;`;

let database: TestDatabase;
let plans: QueryPlans;

beforeAll(async () => {
  database = await createTestDatabase();
  plans = await QueryPlans.open(database.url);
  await plans.client.query(FILL);
});
afterAll(async () => {
  await plans?.close();
  await database.drop();
});

describe('no table is read as a whole by', () => {
  it.each(STATEMENTS)('%s', async (_, index, run) => {
    const plan = await plans.of(run);
    expect(plan).not.toContain('Seq Scan');
    expect(plan).toContain(index);
  });
});
