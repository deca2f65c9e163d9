/**
 * The places in which a service process can be made to die. A place is named by what the product already
 * has: a piece of SQL that stands in one repository, a method of a class, an operation of the API. What is
 * not found in the build any more is an error at the start (`failpoints.mjs`).
 */
const CALLS = 'background-calls/background-call.repository.js';
const MESSAGES = 'delivery/message.repository.js';
const TAKE_OVERS = 'background-calls/take-over/take-over.repository.js';
const QUEUED = 'background-calls/queue/queued-call.repository.js';
const QUESTIONS = 'background-calls/questions/input-request.repository.js';
const SETTLEMENT = 'delivery/webhook/webhook-settlement.js';
const ATTEMPTS = 'delivery/webhook/message-attempt.repository.js';
const TURNS = 'targets/turn.repository.js';

const HANDOVER = { file: CALLS, sql: 'INSERT INTO background_calls' };
const MARK = { file: CALLS, sql: 'SET dispatched_at = now() WHERE' };
const END = { file: CALLS, sql: 'SET status = $3, ended_at = now()' };
const CANCEL = { file: CALLS, sql: 'SET cancel_requested_at = coalesce(' };
const NOTIFY = {
  file: 'delivery/notification.repository.js',
  sql: 'INSERT INTO notifications (id',
};
const CLAIM = { file: MESSAGES, sql: 'INSERT INTO messages (id' };
const CLAIM_AGAIN = { file: MESSAGES, sql: 'SET attempts = messages.attempts + 1' };
const MESSAGE_END = { file: MESSAGES, sql: 'SET state = $2, dead_reason = $3' };
const TAKE_OVER = { file: TAKE_OVERS, sql: "SET owner_id = $2, status = 'running' FROM held" };
const QUEUE_START = { file: QUEUED, sql: "SET status = 'running', owner_id = $2, started_at" };
const ASK = { file: QUESTIONS, sql: 'INSERT INTO input_requests (call_id' };
const TURN_END = { file: TURNS, sql: 'INSERT INTO ended_turns (target_id' };

/**
 * `at` of a statement: `before` and `after` it, `before-commit` and `after-commit` of its transaction; of a
 * method: before it is called; of an answer: when it was given to the network with its last byte.
 * `isExtra`: in the long run alone; each death costs the start of a process.
 */
export const FAILPOINTS = {
  'handover.before-insert': { ...HANDOVER, at: 'before' },
  'handover.inserted': { ...HANDOVER, at: 'after' },
  'handover.before-commit': { ...HANDOVER, at: 'before-commit', isExtra: true },
  'handover.committed': { ...HANDOVER, at: 'after-commit' },
  'handover.answered': { operation: 'POST /v1/sessions/{sessionId}/tool-calls', status: 202 },
  'dispatch.before-mark': { ...MARK, at: 'before' },
  'dispatch.marked': { ...MARK, at: 'after' },
  'queue.started': { ...QUEUE_START, at: 'after-commit', isExtra: true },
  'question.asked': { ...ASK, at: 'after-commit', isExtra: true },
  'end.upstream-answered': {
    file: 'background-calls/in-flight/end-writer.js',
    class: 'EndWriter',
    method: 'write',
  },
  'end.updated': { ...END, at: 'after' },
  'end.notified': { ...NOTIFY, at: 'after', isExtra: true },
  'end.before-commit': { ...END, at: 'before-commit' },
  'end.committed': { ...END, at: 'after-commit' },
  'cancel.requested': { ...CANCEL, at: 'after-commit', isExtra: true },
  'turn.before-end': { ...TURN_END, at: 'before-commit', isExtra: true },
  'turn.ended': { ...TURN_END, at: 'after-commit', isExtra: true },
  'claim.frozen': { ...CLAIM, at: 'before-commit' },
  'claim.committed': { ...CLAIM, at: 'after-commit' },
  'claim.again': { ...CLAIM_AGAIN, at: 'after-commit', changesRows: true, isExtra: true },
  'claim.answered': { operation: 'GET /v1/messages', status: 200, longerThan: '{"data":[]}' },
  'acknowledge.before-commit': { ...MESSAGE_END, at: 'before-commit' },
  'acknowledge.committed': { ...MESSAGE_END, at: 'after-commit' },
  'acknowledge.answered': {
    operation: 'POST /v1/messages/{messageId}/ack',
    status: 200,
    isExtra: true,
  },
  'webhook.answered': { file: SETTLEMENT, class: 'WebhookSettlement', method: 'settle' },
  'webhook.recorded': { file: ATTEMPTS, sql: 'INSERT INTO message_attempts', at: 'before-commit' },
  'take-over.before-commit': {
    ...TAKE_OVER,
    at: 'before-commit',
    changesRows: true,
    isExtra: true,
  },
  'take-over.committed': { ...TAKE_OVER, at: 'after-commit', changesRows: true },
};
