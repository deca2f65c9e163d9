import { toPublicId } from '../../src/common/ids.js';
import type { CallChange, CallRow, Evidence, Receipt } from './evidence.js';

export const SESSION = 'session-1';
export const NAME = 'session-1.1';
export const CALL = '018f0000-0000-7000-8000-000000000001';
export const MESSAGE = '018f0000-0000-7000-8000-000000000011';
export const OTHER_MESSAGE = '018f0000-0000-7000-8000-000000000012';
const NOTIFICATION = '018f0000-0000-7000-8000-000000000021';
export const OTHER_NOTIFICATION = '018f0000-0000-7000-8000-000000000022';
export const OWNER = '018f0000-0000-7000-8000-000000000031';
const AT = new Date('2025-01-01T00:00:00Z');

export function aCall(changes: Partial<CallRow> = {}): CallRow {
  return {
    id: CALL,
    sessionId: SESSION,
    status: 'completed',
    handover: 'always',
    name: NAME,
    errorCode: null,
    errorMessage: null,
    outcomeUnknown: false,
    resultPreview: `${NAME} done`,
    endedAt: AT,
    ...changes,
  };
}

/** From running to completed, by its owner. */
export function aChange(changes: Partial<CallChange> = {}): CallChange {
  return {
    at: AT,
    actor: 'a',
    callId: CALL,
    statusBefore: 'running',
    status: 'completed',
    ownerBefore: OWNER,
    owner: OWNER,
    ownerBeforeStands: true,
    ownerBeforeGoneAt: null,
    cancelRequested: false,
    deadlinePassed: false,
    wasEnded: false,
    runningOfTarget: 0,
    ...changes,
  };
}

/** The hand-over of the call. */
export function aBeginning(changes: Partial<CallChange> = {}): CallChange {
  const before = { statusBefore: null, ownerBefore: null, ownerBeforeStands: false };
  return aChange({ status: 'running', runningOfTarget: 1, ...before, ...changes });
}

export function aReceipt(changes: Partial<Receipt> = {}): Receipt {
  const publicCallId = toPublicId('bgc', CALL);
  return {
    messageId: MESSAGE,
    sessionId: SESSION,
    body: 'the body',
    text: `【后台调用完成】Plain · work（${publicCallId}，1 秒）\n这是系统消息`,
    told: [
      {
        notificationId: NOTIFICATION,
        callId: CALL,
        publicCallId,
        status: 'completed',
        errorCode: undefined,
        preview: `${NAME} done`,
      },
    ],
    askedAtMs: 100,
    gotAtMs: 110,
    ...changes,
  };
}

/** Of a run in which one call was handed over, done and told, as it should be. */
export function someEvidence(changes: Partial<Evidence> = {}): Evidence {
  return {
    accepted: [{ id: CALL, sessionId: SESSION, name: NAME }],
    receipts: [aReceipt()],
    executions: new Map([[NAME, 1]]),
    turns: [],
    odd: [],
    calls: [aCall()],
    notifications: [
      {
        id: NOTIFICATION,
        callId: CALL,
        sessionId: SESSION,
        sequence: 1,
        messageId: MESSAGE,
        suppressed: null,
        isQuestion: false,
      },
    ],
    messages: [{ id: MESSAGE, sessionId: SESSION, state: 'delivered', body: 'the body' }],
    callChanges: [aBeginning(), aChange()],
    messageChanges: [
      {
        messageId: MESSAGE,
        stateBefore: null,
        state: 'pending',
        isHandOut: true,
        bodyChanged: false,
        turnId: null,
      },
    ],
    instanceChanges: [
      { at: AT, actor: 'a', instanceId: OWNER, isBegin: true, leaseWasOver: false },
    ],
    maxPerTarget: 3,
    left: { 'temporary files': 0 },
    ...changes,
  };
}
