import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PageRequest } from '../src/common/paging.js';
import type { Transaction } from '../src/database/database.js';
import {
  type MessageFilter,
  MessageListRepository,
} from '../src/delivery/administration/message-list.repository.js';
import { RedeliveryRepository } from '../src/delivery/administration/redelivery.repository.js';
import { MessageRepository } from '../src/delivery/message.repository.js';
import { MessageAttemptRepository } from '../src/delivery/webhook/message-attempt.repository.js';
import { QueryPlans } from './support/query-plans.js';
import { createTestDatabase, type TestDatabase } from './support/test-database.js';

const ID = '01935f2e-0000-7000-8000-00000000f0f0';
const OTHER = '01935f2e-0000-7000-8000-00000000f0f1';
const PAGE: PageRequest = { limit: 20, order: 'desc' };
const NEXT: PageRequest = {
  ...PAGE,
  order: 'asc',
  after: { createdAt: '2026-01-31T12:00:00.000Z', id: ID },
};
const SINCE = new Date('2026-01-31T12:00:00.000Z');

const lists = new MessageListRepository();
const redeliveries = new RedeliveryRepository();
const attempts = new MessageAttemptRepository();
const messages = new MessageRepository();

const list =
  (filter: MessageFilter, page = PAGE) =>
  (tx: Transaction): Promise<unknown> =>
    lists.list(tx, filter, page);

const STATEMENTS: [string, string, (tx: Transaction) => Promise<unknown>][] = [
  ['the newest', 'messages_created', list({})],
  ['a later page', 'messages_created', list({}, NEXT)],
  ['a time window', 'messages_created', list({ since: SINCE, until: SINCE })],
  ['those of apps', 'messages_app', list({ appIds: [ID, OTHER] })],
  ['dead letters', 'messages_state', list({ states: ['dead', 'discarded'] }, NEXT)],
  ['dead letters of an app', 'messages_state', list({ states: ['dead'], appIds: [ID] })],
  ['those of a session', 'messages_target', list({ target: { appIds: [ID], sessionId: 's' } })],
  [
    'pending ones of a bot',
    'messages_target',
    list({ target: { appIds: [ID], teamId: 't', botId: 'b' }, states: ['pending'] }),
  ],
  ['those of a call', 'notifications_call', list({ callId: ID })],
  ['questions', 'messages_asking', list({ kinds: ['background_call.input_required'] })],
  ['one message', 'messages_pk', (tx) => lists.find(tx, ID)],
  ['its tries', 'message_attempts_pk', (tx) => attempts.list(tx, ID)],
  ['discarding', 'messages_pk', (tx) => messages.end(tx, ID, 'discarded')],
  ['locking targets', 'messages_pk', (tx) => redeliveries.lockTargets(tx, [ID, ID])],
  ['sending again', 'messages_one_pending', (tx) => redeliveries.redeliver(tx, [ID, ID])],
  ['hurrying', 'messages_pk', (tx) => redeliveries.hurry(tx, ID)],
  [
    'the walk through dead letters',
    'messages_state',
    (tx) =>
      redeliveries.listDead(tx, { since: SINCE, appId: ID }, { id: ID, createdAt: SINCE }, 100),
  ],
];

/**
 * 100 sessions of 10 apps with 20,000 messages, half of them before `SINCE`, a hundredth of them dead letters
 * and as many questions; one of each session is pending. Some tell of calls.
 */
const FILL = `
  INSERT INTO apps (id, name) SELECT CASE WHEN n = 1 THEN '${ID}'::uuid ELSE gen_random_uuid() END, 'plans-' || n
    FROM generate_series(1, 10) AS n;
  INSERT INTO targets (app_id, kind, session_id)
    SELECT apps.id, 'session', 'session-' || n FROM generate_series(1, 10) AS n CROSS JOIN apps;
  INSERT INTO messages (id, app_id, target_id, kind, state, dead_reason, body, created_at, delivered_at)
    SELECT gen_random_uuid(), targets.app_id, targets.id,
      CASE WHEN n % 100 = 7 THEN 'background_call.input_required' ELSE 'background_call.result' END,
      CASE WHEN n % 100 = 5 THEN 'dead' WHEN n = 1 THEN 'pending' ELSE 'delivered' END,
      CASE WHEN n % 100 = 5 THEN 'too_old' END, '{}',
      timestamptz '${SINCE.toISOString()}' + (100 - n) * interval '1 min', now()
    FROM targets CROSS JOIN generate_series(1, 200) AS n;
  INSERT INTO background_calls (id, app_id, target_id, status, handover, server_id, server_name,
    server_title, tool, arguments, policy, ended_at)
    SELECT messages.id, messages.app_id, messages.target_id, 'completed', 'auto', messages.id, 'test',
      'Test', 'tool', '{}', '{}', now()
    FROM messages WHERE messages.state = 'delivered' AND messages.created_at < '${SINCE.toISOString()}';
  INSERT INTO notifications (id, call_id, target_id, sequence, content, message_id)
    SELECT background_calls.id, background_calls.id, background_calls.target_id,
      row_number() OVER (), '{}', background_calls.id
    FROM background_calls;
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

describe('the history is not read for', () => {
  it.each(STATEMENTS)('%s', async (_, index, run) => {
    const plan = await plans.of(run);
    expect(plan).not.toContain('Seq Scan');
    expect(plan).toContain(index);
  });

  it.each(['appIds', 'states', 'target', 'nothing'])(
    'a page by %s, which takes the first of an index in their order',
    async (by) => {
      const filters: Record<string, MessageFilter> = {
        appIds: { appIds: [ID] },
        states: { states: ['delivered'] },
        target: { target: { appIds: [ID], sessionId: 's' } },
        nothing: {},
      };
      const plan = await plans.of(list(filters[by] as MessageFilter));
      // What is sorted is the page, never what it is taken from.
      expect(plan).toMatch(/Limit[^\n]*\n\s*->  Index (Only )?Scan (Backward )?using messages_/);
    },
  );
});
