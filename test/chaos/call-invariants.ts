import type { CallChange, CallRow, Evidence } from './evidence.js';
import { grouped, isTerminal, type Violation } from './violation.js';

/** Between the look at a lease and the move that it allows; nothing of the service takes that long. */
const TOO_LATE_MS = 1_000;

/** I1 */
export function endsOnce({ calls, callChanges }: Evidence): Violation[] {
  const changesOf = grouped(callChanges, ({ callId }) => callId);
  return calls.flatMap(({ id, sessionId, status }) => {
    const changes = changesOf.get(id) ?? [];
    const ends = changes.filter(({ wasEnded, status: to }) => !wasEnded && isTerminal(to));
    const late = changes.filter(({ wasEnded }) => wasEnded);
    return [
      ...(isTerminal(status) && ends.length !== 1
        ? [{ sessionId, what: `${id} is ${status} and ended ${ends.length} times` }]
        : []),
      ...late.map((change) => ({
        sessionId,
        what: `${id} changed after its end: ${shown(change)}`,
      })),
    ];
  });
}

/** I2 */
export function losesNoCall({ accepted, calls }: Evidence): Violation[] {
  const rows = new Map(calls.map((row) => [row.id, row]));
  return [
    ...accepted.flatMap(({ id, sessionId, name }) => {
      const row = rows.get(id);
      if (!row) return [{ sessionId, what: `${id} was accepted and is not there` }];
      const isIt = row.sessionId === sessionId && row.name === name;
      return isIt ? [] : [{ sessionId, what: `${id} was accepted as ${name} and is ${row.name}` }];
    }),
    ...calls
      .filter(({ status }) => !isTerminal(status))
      .map(({ id, sessionId, status }) => ({ sessionId, what: `${id} is still ${status}` })),
  ];
}

/** I8 */
export function asksAtMostOnce({ calls, executions }: Evidence): Violation[] {
  const sessionOf = new Map(calls.map(({ name, sessionId }) => [name, sessionId]));
  const twice = [...executions].filter(([, times]) => times > 1);
  const never = calls.filter(
    ({ name, status }) => status === 'completed' && (executions.get(name) ?? 0) === 0,
  );
  return [
    ...twice.map(([name, times]) => ({
      sessionId: sessionOf.get(name),
      what: `${name} was asked ${times} times`,
    })),
    ...never.map(({ name, sessionId }) => ({
      sessionId,
      what: `${name} is completed and was never asked`,
    })),
  ];
}

/** I9 */
export function sweepsNoLivingOwner(evidence: Evidence): Violation[] {
  const { callChanges, instanceChanges } = evidence;
  const actorOf = new Map(instanceChanges.map(({ instanceId, actor }) => [instanceId, actor]));
  for (const { instanceId, actor, isBegin } of instanceChanges)
    if (isBegin) actorOf.set(instanceId, actor);
  const sessionOf = sessionsOf(evidence);
  const wrong = callChanges
    .filter(({ wasEnded }) => !wasEnded)
    .filter((change) => {
      const owner = change.ownerBefore;
      if (owner === null || change.statusBefore === null) return false;
      const isOwners = actorOf.get(owner) === change.actor;
      if (change.status === 'completed') return !isOwners || wasLongGone(change);
      return !isOwners && takesAway(change) && change.ownerBeforeStands;
    });
  return [
    ...wrong.map((change) => ({
      sessionId: sessionOf.get(change.callId),
      what: `${change.callId} was moved past its owner: ${shown(change)}`,
    })),
    ...instanceChanges
      .filter(
        (one) => !one.isBegin && !one.leaseWasOver && one.actor !== actorOf.get(one.instanceId),
      )
      .map(({ instanceId, actor }) => ({ what: `${actor} fenced ${instanceId} within its lease` })),
  ];
}

/** I13 */
export function saysWhy({ calls, executions }: Evidence): Violation[] {
  return calls.flatMap((call) => {
    const { id, sessionId, status, errorCode, errorMessage, outcomeUnknown, name } = call;
    if (status !== 'failed') return [];
    const why = [
      ...(errorCode && errorMessage ? [] : [`${id} failed and does not say why`]),
      ...(errorCode === 'interrupted' && executions.has(name) && !outcomeUnknown
        ? [`${id} was interrupted after it was asked, and its outcome passes for known`]
        : []),
    ];
    return why.map((what) => ({ sessionId, what }));
  });
}

/** I14 */
export function holdsLimits(evidence: Evidence): Violation[] {
  const { calls, callChanges, maxPerTarget } = evidence;
  const rows = new Map(calls.map((row) => [row.id, row]));
  return callChanges
    .filter((change) => takesSlot(change, rows.get(change.callId)))
    .filter(({ runningOfTarget }) => runningOfTarget > maxPerTarget)
    .map(({ callId, runningOfTarget }) => ({
      sessionId: rows.get(callId)?.sessionId,
      what: `${callId} ran as number ${runningOfTarget} of its session`,
    }));
}

/** Not what an abandoned call is recorded as: it has ended by then. */
function takesSlot({ statusBefore, status }: CallChange, row: CallRow | undefined): boolean {
  if (status !== 'running') return false;
  if (statusBefore === null) return row?.handover !== 'client_timeout';
  return statusBefore === 'queued';
}

function takesAway(change: CallChange): boolean {
  if (change.cancelRequested || change.deadlinePassed) return false;
  return isTerminal(change.status) || change.owner !== change.ownerBefore;
}

/** Also its own process must not write about a call once it was fenced. */
function wasLongGone({ at, ownerBeforeGoneAt }: CallChange): boolean {
  return ownerBeforeGoneAt !== null && +at - +ownerBeforeGoneAt > TOO_LATE_MS;
}

function sessionsOf({ calls }: Evidence): Map<string, string> {
  return new Map(calls.map(({ id, sessionId }) => [id, sessionId]));
}

/** In words. */
export function shown({ actor, statusBefore, status, ownerBefore, owner }: CallChange): string {
  return `${actor}: ${statusBefore} → ${status}, owner ${ownerBefore} → ${owner}`;
}
