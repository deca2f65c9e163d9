import type { CallStatus } from './call-status.js';
import type {
  BackgroundCall,
  CallErrorCode,
  CallProgress,
  CallSummary,
  Handover,
} from './background-call.js';

/** A row of `background_calls` with the address of its target, without what may be large. */
export interface CallSummaryRow {
  id: string;
  app_id: string;
  target_id: number;
  session_id: string | null;
  team_id: string | null;
  bot_id: string | null;
  status: CallStatus;
  handover: Handover;
  owner_id: string | null;
  agent_id: string | null;
  turn_id: string | null;
  tool_call_id: string | null;
  server_id: string;
  server_name: string;
  server_title: string;
  tool: string;
  progress: string | null;
  error_code: CallErrorCode | null;
  error_message: string | null;
  outcome_unknown: boolean;
  result_preview: string | null;
  result_is_error: boolean | null;
  result_bytes: number | null;
  result_truncated: boolean | null;
  traceparent: string | null;
  created_at: Date;
  started_at: Date | null;
  backgrounded_at: Date;
  deadline_at: Date | null;
  cancel_requested_at: Date | null;
  ended_at: Date | null;
}

export interface BackgroundCallRow extends CallSummaryRow {
  arguments: string;
  policy: object;
}

/** The columns of a call `c` and its target `t` for lists. */
export const SUMMARY_COLUMNS = `
  c.id, c.app_id, c.target_id, t.session_id, t.team_id, t.bot_id, c.status, c.handover, c.owner_id,
  c.agent_id, c.turn_id, c.tool_call_id, c.server_id, c.server_name, c.server_title, c.tool,
  c.progress, c.error_code, c.error_message, c.outcome_unknown,
  c.result_preview, c.result_is_error, c.result_bytes, c.result_truncated, c.traceparent,
  c.created_at, c.started_at, c.backgrounded_at, c.deadline_at, c.cancel_requested_at, c.ended_at`;

/** The columns for every statement that answers whole calls. */
export const CALL_COLUMNS = `${SUMMARY_COLUMNS}, c.arguments, c.policy`;

export function toBackgroundCall(row: BackgroundCallRow): BackgroundCall {
  return { ...toCallSummary(row), arguments: row.arguments, policy: row.policy };
}

export function toCallSummary(row: CallSummaryRow): CallSummary {
  return {
    id: row.id,
    appId: row.app_id,
    targetId: row.target_id,
    address: addressOf(row),
    status: row.status,
    handover: row.handover,
    ownerId: row.owner_id,
    agentId: row.agent_id,
    turnId: row.turn_id,
    toolCallId: row.tool_call_id,
    server: { id: row.server_id, name: row.server_name, title: row.server_title },
    tool: row.tool,
    progress: row.progress === null ? null : (JSON.parse(row.progress) as CallProgress),
    error: errorOf(row),
    outcomeUnknown: row.outcome_unknown,
    result: resultOf(row),
    traceparent: row.traceparent,
    createdAt: row.created_at,
    startedAt: row.started_at,
    backgroundedAt: row.backgrounded_at,
    deadlineAt: row.deadline_at,
    cancelRequestedAt: row.cancel_requested_at,
    endedAt: row.ended_at,
  };
}

function addressOf(row: CallSummaryRow): CallSummary['address'] {
  return row.session_id === null
    ? { type: 'bot', teamId: row.team_id ?? '', botId: row.bot_id ?? '' }
    : { type: 'session', sessionId: row.session_id };
}

function errorOf(row: CallSummaryRow): CallSummary['error'] {
  return row.error_code === null
    ? null
    : { code: row.error_code, message: row.error_message ?? '' };
}

function resultOf(row: CallSummaryRow): CallSummary['result'] {
  if (row.result_bytes === null) return null;
  return {
    preview: row.result_preview ?? '',
    isError: row.result_is_error ?? false,
    bytes: row.result_bytes,
    truncated: row.result_truncated ?? false,
  };
}
