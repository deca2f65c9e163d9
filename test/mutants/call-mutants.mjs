/** What a background call must not do: see `mutant-table.mjs`. */
const CALLS = 'src/background-calls/background-call.repository.ts';
const REGISTRY = 'src/background-calls/background-call.registry.ts';
const TRANSITIONS = 'test/call-transitions.e2e-spec.ts';
const ENDINGS = 'test/call-endings.e2e-spec.ts';
const ENDS =
  'a row of a background call in state running moves to completed exactly when the table allows it';

export const CALL_MUTANTS = {
  'terminal move without its guard by state': {
    why: 'Whoever comes second would end the call once more.',
    file: CALLS,
    piece: 'background_calls.status = ANY($2) AND ${END_GUARDS[guard]}',
    becomes: '$2::text[] IS NOT NULL AND ${END_GUARDS[guard]}',
    spec: TRANSITIONS,
    caughtBy:
      'a row of a background call in state completed moves to failed exactly when the table allows it',
    lives: ENDS,
  },
  'terminal state overwritten': {
    why: 'A result that was told would turn into a time-out.',
    file: 'src/background-calls/call-status.ts',
    piece: 'completed: [],',
    becomes: "completed: ['failed', 'cancelled'],",
    spec: ENDINGS,
    caughtBy:
      'a call that is ended twice at once ends once and is told once: result, then deadline',
    lives:
      'a call that is ended twice at once says that the outcome is unknown only if the upstream was asked',
  },
  'notification in a transaction of its own': {
    why: 'A process that dies between the two would leave an end that nobody is told.',
    file: REGISTRY,
    piece: 'await this.ends.record(tx, target, ended, ending.status);',
    becomes: `void this.database
      .transaction((later) => this.ends.record(later, target, ended, ending.status))
      .catch(() => undefined);`,
    spec: TRANSITIONS,
    caughtBy:
      'a row of a background call goes on as if nothing had happened when its end can not be written whole: notifications',
    lives:
      'a row of a background call in state queued takes the request of a cancel only while it may end',
  },
  'owner not fenced': {
    why: 'A process that woke up after its lease would write about calls that another one has.',
    file: CALLS,
    piece: `owner_id = $11
    AND EXISTS (SELECT FROM instances WHERE instances.id = background_calls.owner_id)`,
    becomes: 'owner_id = $11',
    spec: TRANSITIONS,
    caughtBy: 'a row of a background call is written about by no owner that was fenced',
    lives: ENDS,
  },
  'call ended by one who does not own it': {
    why: 'Two processes would write about one call.',
    file: CALLS,
    piece: 'AND background_calls.owner_id = $11\n',
    becomes: 'AND $11::uuid IS NOT NULL\n',
    spec: TRANSITIONS,
    caughtBy:
      'a row of a background call ends by the right of its owner, of a cancel, of a deadline and of a dead owner, and by no other',
    lives: ENDS,
  },
  'cancel of a dead owner forgotten': {
    why: 'Whoever cancelled the call would be told that it was interrupted.',
    file: CALLS,
    piece: "'dead-owner': `background_calls.cancel_requested_at IS NULL AND $11::uuid IS NULL",
    becomes: "'dead-owner': `$11::uuid IS NULL",
    spec: 'test/reattach-races.e2e-spec.ts',
    caughtBy:
      'a call whose owner is gone ends as cancelled when the cancel is written before the take-over',
    lives: 'a call whose owner is gone keeps its deadline, and is not taken over after it',
  },
  'repeated cancel taken for a new one': {
    why: 'The second request would begin the grace of the owner anew.',
    file: CALLS,
    piece: 'coalesce(background_calls.cancel_requested_at, now())',
    becomes: 'now()',
    spec: 'test/cancel.e2e-spec.ts',
    caughtBy: 'cancelling a background call of one service takes a second cancel as the first one',
    lives:
      'cancelling a background call of one service answers the cancel of an ended call with the unchanged call, and tells nothing again',
  },
  'repeated handover refused': {
    why: 'After a COMMIT of unknown outcome the caller would get an error for a call that runs.',
    file: REGISTRY,
    piece: "if (earlier) return { kind: 'moved', call: earlier };",
    becomes: '',
    spec: TRANSITIONS,
    caughtBy:
      'a row of a background call is made once, however often its handover is asked for, as after a COMMIT of unknown outcome',
    lives: ENDS,
  },
  'dispatched call started again': {
    why: 'The upstream would do the work twice.',
    file: CALLS,
    piece: `
    AND background_calls.dispatched_at IS NULL AND background_calls.cancel_requested_at IS NULL`,
    becomes: '\n    AND background_calls.cancel_requested_at IS NULL',
    spec: TRANSITIONS,
    caughtBy:
      'a row of a background call in state running goes back into the queue only while it surely was not dispatched',
    lives: ENDS,
  },
  'sweep ignores the lease': {
    why: 'Calls of living replicas would be ended, or run twice.',
    file: 'src/instances/instance.repository.ts',
    piece: 'WHERE instances.lease_until < now() AND instances.id <> $1',
    becomes: 'WHERE instances.id <> $1',
    spec: 'test/instances.e2e-spec.ts',
    caughtBy: 'fencing of instances leaves one alone whose lease lasts',
    lives: 'fencing of instances takes away the rights of one whose lease has run out',
  },
  'call taken from a living owner': {
    why: 'Two processes would go on with one call.',
    file: 'src/background-calls/take-over/take-over.repository.ts',
    piece: 'OR NOT EXISTS (SELECT FROM instances WHERE instances.id = background_calls.owner_id)',
    becomes: 'OR true',
    spec: 'test/reattach-races.e2e-spec.ts',
    caughtBy:
      'a call whose owner is gone is not taken over by a process that is fenced itself, nor while its owner lives',
    lives: 'a call whose owner is gone keeps its deadline, and is not taken over after it',
  },
  'retention removes what was not told': {
    why: 'The result would be gone before anybody has heard of it.',
    file: 'src/recovery/retention/retention.repository.ts',
    piece: '(messages.id IS NULL OR messages.state NOT IN',
    becomes: '(messages.state NOT IN',
    spec: 'test/retention.e2e-spec.ts',
    caughtBy:
      'what is older than the retention stays while it waits to be told, is out, or could not be delivered',
    lives:
      'what is older than the retention is removed with its result, files, message and events, once it was told',
  },
};
