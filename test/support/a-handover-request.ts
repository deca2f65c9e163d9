import { randomUUID } from 'node:crypto';
import type { HandoverRequest } from '../../src/background-calls/background-call.js';

/** A call that is about to move to the background, with changes. */
export function aHandoverRequest(
  changes: Partial<HandoverRequest> & Pick<HandoverRequest, 'appId'>,
): HandoverRequest {
  return {
    id: randomUUID(),
    address: { type: 'session', sessionId: `session-${randomUUID()}` },
    handover: 'auto',
    agentId: undefined,
    turnId: undefined,
    toolCallId: undefined,
    server: { id: randomUUID(), name: 'test', title: 'Test' },
    tool: 'gate',
    arguments: '{}',
    policy: { maxHours: 24, idleTimeoutSec: null, inlineChars: 8_000, maxBytes: 1_000_000 },
    progress: undefined,
    reference: undefined,
    traceparent: undefined,
    runningForMs: 0,
    ignoreLimits: false,
    ...changes,
  };
}
