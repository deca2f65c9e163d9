import { cutText, toStorableText } from '../common/storable-text.js';
import type { CallNotice } from '../delivery/call-notice.js';
import type { BackgroundCall } from './background-call.js';
import { durationMsOf } from './call-duration.js';
import { isTerminal } from './call-status.js';

const ARGUMENTS_PREVIEW_CHARS = 300;

/** What an ended call has to tell, taken at the moment it ends. */
export function toNotice(call: BackgroundCall): CallNotice {
  const { endedAt, startedAt, createdAt, result, status } = call;
  if (endedAt === null || !isTerminal(status)) throw new Error(`call ${call.id} has not ended`);
  // A call that waited in the queue started later than it was asked for.
  const asked = startedAt !== null && startedAt < createdAt ? startedAt : createdAt;
  return {
    ...purposeOf(call),
    status,
    error: call.error,
    outcomeUnknown: call.outcomeUnknown,
    preview: result?.preview ?? null,
    resultBytes: result?.bytes ?? null,
    truncated: result?.truncated ?? false,
    files: result?.files ?? null,
    isUnstarted: startedAt === null,
    startedAt: asked.toISOString(),
    endedAt: endedAt.toISOString(),
    durationMs: durationMsOf(call),
  };
}

/** What every notice says of its call. */
export function purposeOf(
  call: BackgroundCall,
): Pick<
  CallNotice,
  'callId' | 'serverName' | 'serverTitle' | 'tool' | 'argumentsPreview' | 'traceparent'
> {
  return {
    callId: call.id,
    serverName: call.server.name,
    serverTitle: call.server.title,
    tool: call.tool,
    argumentsPreview: cutText(toStorableText(call.arguments), ARGUMENTS_PREVIEW_CHARS),
    traceparent: call.traceparent,
  };
}
