import type { CallRow, Evidence, Receipt, ToldEnd } from './evidence.js';
import { grouped, isTerminal, type Violation } from './violation.js';

const HEADINGS: Record<string, string> = {
  completed: '后台调用完成',
  failed: '后台调用失败',
  cancelled: '后台调用已取消',
  input_required: '后台调用需要输入',
};

/** I3 */
export function tellsEachEndOnce(evidence: Evidence): Violation[] {
  const { calls, notifications, receipts } = evidence;
  const endsOf = grouped(
    notifications.filter(({ isQuestion }) => !isQuestion),
    ({ callId }) => callId,
  );
  const toldIn = grouped(
    firstReceipts(receipts).flatMap(({ messageId, told }) =>
      told.filter(({ status }) => isTerminal(status)).map(({ callId }) => ({ callId, messageId })),
    ),
    ({ callId }) => callId,
  );
  return [
    ...calls.flatMap(({ id, sessionId, status }) => {
      const wanted = isTerminal(status) ? 1 : 0;
      const ends = endsOf.get(id) ?? [];
      const told = toldIn.get(id) ?? [];
      return [
        ...(ends.length === wanted
          ? []
          : [`${id} is ${status}, with ${ends.length} notifications`]),
        ...(told.length > 1 ? [`${id} was told by ${told.length} messages`] : []),
      ].map((what) => ({ sessionId, what }));
    }),
    ...notifications
      .filter(({ messageId, suppressed }) => (messageId === null) === (suppressed === null))
      .map(({ id, sessionId }) => ({
        sessionId,
        what: `notification ${id} is neither told nor suppressed, or both`,
      })),
    ...wrongContents(evidence),
  ];
}

/** What a message tells of is what its rows say that is in it. */
function wrongContents({ notifications, receipts }: Evidence): Violation[] {
  const within = grouped(notifications, ({ messageId }) => messageId ?? '');
  return firstReceipts(receipts).flatMap(({ messageId, sessionId, told }) => {
    const ids = (within.get(messageId) ?? []).map(({ id }) => id);
    const isSame = ids.join() === told.map(({ notificationId }) => notificationId).join();
    return isSame
      ? []
      : [{ sessionId, what: `${messageId} tells of other ends than its rows say` }];
  });
}

/** I4 */
export function keepsOneBody({ receipts, messages, messageChanges }: Evidence): Violation[] {
  const stored = new Map(messages.map((row) => [row.id, row]));
  return [
    ...receipts
      .filter(({ messageId, body }) => stored.get(messageId)?.body !== body)
      .map(({ messageId, sessionId }) => ({
        sessionId,
        what: `${messageId} came with another body than is stored, or is not stored`,
      })),
    ...messageChanges
      .filter(({ bodyChanged }) => bodyChanged)
      .map(({ messageId }) => ({
        sessionId: stored.get(messageId)?.sessionId,
        what: `the body of ${messageId} was changed`,
      })),
  ];
}

/** I5 */
export function reachesItsReceiver({ receipts, messages, messageChanges }: Evidence): Violation[] {
  const received = new Set(receipts.map(({ messageId }) => messageId));
  const sessionOf = new Map(messages.map(({ id, sessionId }) => [id, sessionId]));
  return [
    ...messages.flatMap(({ id, sessionId, state }) => [
      ...(received.has(id)
        ? []
        : [{ sessionId, what: `${id} is ${state} and was never received` }]),
      ...(state === 'pending' ? [{ sessionId, what: `${id} is still pending` }] : []),
    ]),
    ...messageChanges
      .filter(({ stateBefore, state }) => stateBefore === 'delivered' && state !== 'delivered')
      .map(({ messageId, state }) => ({
        sessionId: sessionOf.get(messageId),
        what: `${messageId} was delivered and became ${state}`,
      })),
  ];
}

/** I6 */
export function tellsTheTruth({ calls, receipts }: Evidence): Violation[] {
  const rows = new Map(calls.map((row) => [row.id, row]));
  return firstReceipts(receipts).flatMap(({ sessionId, text, told }) =>
    told.flatMap((end) =>
      lies(end, text, rows.get(end.callId), sessionId).map((what) => ({
        sessionId,
        what: `${end.callId}: ${what}`,
      })),
    ),
  );
}

function lies(end: ToldEnd, text: string, row: CallRow | undefined, sessionId: string): string[] {
  if (!row) return ['it is told and is not there'];
  const { status, errorCode, preview, publicCallId } = end;
  const heading = text
    .split('\n')
    .find((line) => line.startsWith('【') && line.includes(`（${publicCallId}，`));
  return [
    ...(row.sessionId === sessionId ? [] : [`it was told to ${sessionId}`]),
    ...(heading?.startsWith(`【${HEADINGS[status]}】`)
      ? []
      : [`told as ${status} under ${heading}`]),
    ...(status === 'input_required' || status === row.status
      ? []
      : [`told as ${status}, it is ${row.status}`]),
    ...(status !== 'failed' || errorCode === row.errorCode
      ? []
      : [`told as ${errorCode}, it is ${row.errorCode}`]),
    ...(status !== 'completed' || preview?.includes(row.name)
      ? []
      : [`the result of ${row.name} is told as ${preview}`]),
  ];
}

/** I7 */
export function keepsTheOrder({ notifications, receipts }: Evidence): Violation[] {
  const placeOf = new Map(notifications.map(({ id, sequence }) => [id, sequence]));
  const last = new Map<string, number>();
  return firstReceipts(receipts).flatMap(({ messageId, sessionId, told }) =>
    told.flatMap(({ notificationId }) => {
      const before = last.get(sessionId) ?? 0;
      const place = placeOf.get(notificationId) ?? 0;
      last.set(sessionId, Math.max(before, place));
      if (place > before) return [];
      return [{ sessionId, what: `${messageId}: place ${place} was told after place ${before}` }];
    }),
  );
}

/** I10 */
export function waitsForTheTurn({
  messages,
  messageChanges,
  receipts,
  turns,
}: Evidence): Violation[] {
  const sessionOf = new Map(messages.map(({ id, sessionId }) => [id, sessionId]));
  const turnsOf = grouped(turns, ({ sessionId }) => sessionId);
  return [
    ...messageChanges
      .filter(({ isHandOut, turnId }) => isHandOut && turnId !== null)
      .map(({ messageId, turnId }) => ({
        sessionId: sessionOf.get(messageId),
        what: `${messageId} was handed out while ${turnId} ran`,
      })),
    ...receipts.flatMap(({ messageId, sessionId, askedAtMs, gotAtMs }) =>
      (turnsOf.get(sessionId) ?? [])
        .filter(({ startedAtMs, endedAtMs }) => startedAtMs <= askedAtMs && gotAtMs <= endedAtMs)
        .map(({ turnId }) => ({ sessionId, what: `${messageId} arrived while ${turnId} ran` })),
    ),
  ];
}

function firstReceipts(receipts: Receipt[]): Receipt[] {
  const seen = new Set<string>();
  return receipts.filter(({ messageId }) => !seen.has(messageId) && seen.add(messageId));
}
