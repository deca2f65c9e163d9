import { describe, expect, it } from '@jest/globals';
import type { Evidence } from './evidence.js';
import { INVARIANTS } from './invariants.js';
import {
  aBeginning,
  aCall,
  aChange,
  aReceipt,
  NAME,
  OTHER_MESSAGE,
  OTHER_NOTIFICATION,
  OWNER,
  SESSION,
  someEvidence,
} from './some-evidence.js';

const ended = someEvidence();
const [notification] = ended.notifications;
const [message] = ended.messages;
const [handOut] = ended.messageChanges;
const [receipt] = ended.receipts;
const [told] = ended.receipts[0]!.told;
const LATER = new Date('2025-01-01T00:01:00Z');

/** What each invariant must not let pass: one made-up violation each, alone in a run that is clean otherwise. */
const VIOLATIONS: [id: string, what: string, changes: Partial<Evidence>][] = [
  ['I1', 'a call that ends twice', { callChanges: [aBeginning(), aChange(), aChange()] }],
  [
    'I1',
    'a call that changes after its end',
    { callChanges: [aBeginning(), aChange(), aChange({ wasEnded: true, status: 'failed' })] },
  ],
  ['I2', 'an accepted call without a row', { calls: [] }],
  ['I2', 'a call that never ends', { calls: [aCall({ status: 'running' })] }],
  ['I2', 'an accepted call in the row of another', { calls: [aCall({ name: 'another' })] }],
  ['I3', 'an end that nobody is told', { notifications: [] }],
  [
    'I3',
    'an end with two notifications',
    { notifications: [notification!, { ...notification!, id: OTHER_NOTIFICATION, sequence: 2 }] },
  ],
  [
    'I3',
    'a notification in no message',
    { notifications: [{ ...notification!, messageId: null }] },
  ],
  [
    'I3',
    'a notification that is told and suppressed',
    { notifications: [{ ...notification!, suppressed: 'call_ended' }] },
  ],
  [
    'I3',
    'an end in two messages',
    { receipts: [receipt!, aReceipt({ messageId: OTHER_MESSAGE })] },
  ],
  ['I3', 'a message that leaves one out', { receipts: [aReceipt({ told: [] })] }],
  ['I3', 'a notification of a call that runs', { calls: [aCall({ status: 'running' })] }],
  ['I4', 'another body at the second try', { receipts: [receipt!, aReceipt({ body: 'other' })] }],
  ['I4', 'a body that is changed', { messageChanges: [{ ...handOut!, bodyChanged: true }] }],
  ['I4', 'a message that is not stored', { messages: [] }],
  ['I5', 'a message that nobody has received', { receipts: [] }],
  ['I5', 'a message that waits for ever', { messages: [{ ...message!, state: 'pending' }] }],
  [
    'I5',
    'a message that is delivered and then is not',
    { messageChanges: [handOut!, { ...handOut!, stateBefore: 'delivered', state: 'pending' }] },
  ],
  ['I6', 'a failure that is told as completed', { calls: [aCall({ status: 'failed' })] }],
  [
    'I6',
    'a heading of another state',
    { receipts: [aReceipt({ text: receipt!.text.replace('完成', '失败') })] },
  ],
  [
    'I6',
    'an end that is told to another session',
    { receipts: [aReceipt({ sessionId: 'other' })] },
  ],
  [
    'I6',
    'the result of another call',
    { receipts: [aReceipt({ told: [{ ...told!, preview: 'other done' }] })] },
  ],
  [
    'I6',
    'another error than the row has',
    {
      calls: [aCall({ status: 'failed', errorCode: 'timeout' })],
      receipts: [
        aReceipt({
          text: receipt!.text.replace('完成', '失败'),
          told: [{ ...told!, status: 'failed', errorCode: 'interrupted' }],
        }),
      ],
    },
  ],
  [
    'I7',
    'a later place that is told first',
    {
      notifications: [
        { ...notification!, sequence: 2 },
        { ...notification!, id: OTHER_NOTIFICATION, sequence: 1, messageId: OTHER_MESSAGE },
      ],
      receipts: [
        receipt!,
        aReceipt({
          messageId: OTHER_MESSAGE,
          told: [{ ...told!, notificationId: OTHER_NOTIFICATION }],
        }),
      ],
    },
  ],
  ['I8', 'a call that is asked twice', { executions: new Map([[NAME, 2]]) }],
  ['I8', 'a result that nobody was asked for', { executions: new Map() }],
  [
    'I9',
    'a sweep of a living owner',
    { callChanges: [aBeginning(), aChange({ actor: 'b', status: 'failed' })] },
  ],
  [
    'I9',
    'a take-over from a living owner',
    { callChanges: [aBeginning(), aChange({ actor: 'b', status: 'running', owner: null })] },
  ],
  [
    'I9',
    'a fenced owner that writes its result',
    {
      callChanges: [
        aBeginning(),
        aChange({
          at: LATER,
          ownerBeforeStands: false,
          ownerBeforeGoneAt: new Date(+LATER - 5_000),
        }),
      ],
    },
  ],
  [
    'I9',
    'a lease that is taken before its time',
    {
      instanceChanges: [
        ...ended.instanceChanges,
        { at: LATER, actor: 'b', instanceId: OWNER, isBegin: false, leaseWasOver: false },
      ],
    },
  ],
  ['I10', 'a hand-out in a turn', { messageChanges: [{ ...handOut!, turnId: 'turn-1' }] }],
  [
    'I10',
    'a receipt in a turn',
    { turns: [{ sessionId: SESSION, turnId: 'turn-1', startedAtMs: 99, endedAtMs: 111 }] },
  ],
  ['I12', 'a file that is left', { left: { 'temporary files': 1 } }],
  ['I13', 'a failure without a reason', { calls: [aCall({ status: 'failed' })] }],
  [
    'I13',
    'an interruption whose outcome passes for known',
    { calls: [aCall({ status: 'failed', errorCode: 'interrupted', errorMessage: 'restarted' })] },
  ],
  [
    'I14',
    'a fourth running call',
    { callChanges: [aBeginning({ runningOfTarget: 4 }), aChange()] },
  ],
  ['API', 'an answer that is not documented', { odd: ['GET /: 500'] }],
];

function violated(evidence: Evidence): string[] {
  return INVARIANTS.filter(({ violations }) => violations(evidence).length > 0).map(({ id }) => id);
}

describe('the checks of a run', () => {
  it('find nothing where all is as it should be', () => {
    expect(violated(someEvidence())).toEqual([]);
  });

  it.each(VIOLATIONS)('%s: find %s', (id, _what, changes) => {
    expect(violated(someEvidence(changes))).toContain(id);
  });

  it('let pass what is allowed', () => {
    const cancelled = aChange({ actor: 'b', status: 'cancelled', cancelRequested: true });
    const overdue = aChange({ actor: 'b', status: 'failed', deadlinePassed: true });
    const ofTheDead = aChange({ actor: 'b', status: 'failed', ownerBeforeStands: false });
    for (const change of [cancelled, overdue, ofTheDead])
      expect(violated(someEvidence({ callChanges: [aBeginning(), change] }))).toEqual([]);
    const abandoned = { calls: [aCall({ handover: 'client_timeout' })] };
    const callChanges = [aBeginning({ runningOfTarget: 4 }), aChange()];
    expect(violated(someEvidence({ ...abandoned, callChanges }))).toEqual([]);
  });

  it('are each shown red above', () => {
    const shown = new Set(VIOLATIONS.map(([id]) => id));
    expect(INVARIANTS.map(({ id }) => id).filter((id) => !shown.has(id))).toEqual([]);
  });
});
