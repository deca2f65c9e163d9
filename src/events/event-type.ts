/** What can happen to a call, its message or the turn of its target. */
export const EVENT_TYPES = [
  'background_call.queued',
  'background_call.running',
  'background_call.input_required',
  'background_call.resumed',
  'background_call.completed',
  'background_call.failed',
  'background_call.cancelled',
  'notification.suppressed',
  'message.pending',
  'message.delivered',
  'message.dead',
  'message.discarded',
  'turn.started',
  'turn.ended',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];
