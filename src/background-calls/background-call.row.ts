import type { CallErrorCode } from '../common/call-error-code.js';
import type { FiledResult } from '../delivery/files/filed-result.js';
import type {
  BackgroundCall,
  CallProgress,
  CallSummary,
  HandoverPolicy,
} from './background-call.js';
import { OPEN_INPUT_REQUEST } from './questions/open-input-request.repository.js';

/** A row of `background_calls` with the address of its target, without what may be large. */
export interface CallSummaryRow extends Omit<CallSummary, keyof Composed> {
  sessionId: string | null;
  teamId: string | null;
  botId: string | null;
  serverId: string;
  serverName: string;
  serverTitle: string;
  /** JSON. */
  progress: string | null;
  errorCode: CallErrorCode | null;
  errorMessage: string | null;
  resultPreview: string | null;
  resultIsError: boolean | null;
  resultBytes: number | null;
  resultTruncated: boolean | null;
  resultFiles: FiledResult | null;
  /** `schema` is JSON text. */
  inputRequest: { sequence: number; message: string; schema: string } | null;
}

/** What several columns make up together. */
type Composed = Pick<
  CallSummary,
  'address' | 'server' | 'progress' | 'error' | 'result' | 'inputRequest'
>;

export interface BackgroundCallRow extends CallSummaryRow {
  arguments: string;
  policy: HandoverPolicy;
  /** JSON. */
  reference: string | null;
}

/** The columns for lists; a statement that selects them joins `targets`. */
export const SUMMARY_COLUMNS = `
    background_calls.id, background_calls.app_id AS "appId",
    background_calls.target_id AS "targetId", targets.session_id AS "sessionId",
    targets.team_id AS "teamId", targets.bot_id AS "botId", background_calls.status,
    background_calls.handover, background_calls.driver, background_calls.owner_id AS "ownerId",
    background_calls.agent_id AS "agentId", background_calls.turn_id AS "turnId",
    background_calls.tool_call_id AS "toolCallId", background_calls.server_id AS "serverId",
    background_calls.server_name AS "serverName", background_calls.server_title AS "serverTitle",
    background_calls.tool, background_calls.progress, background_calls.error_code AS "errorCode",
    background_calls.error_message AS "errorMessage",
    background_calls.outcome_unknown AS "outcomeUnknown",
    background_calls.result_preview AS "resultPreview",
    background_calls.result_is_error AS "resultIsError",
    background_calls.result_bytes AS "resultBytes",
    background_calls.result_truncated AS "resultTruncated",
    background_calls.result_files AS "resultFiles", background_calls.questions,
    ${OPEN_INPUT_REQUEST} AS "inputRequest", background_calls.traceparent,
    background_calls.created_at AS "createdAt", background_calls.started_at AS "startedAt",
    background_calls.backgrounded_at AS "backgroundedAt",
    background_calls.deadline_at AS "deadlineAt",
    background_calls.cancel_requested_at AS "cancelRequestedAt",
    background_calls.ended_at AS "endedAt"`;

/** The columns for every statement that answers whole calls. */
export const CALL_COLUMNS = `${SUMMARY_COLUMNS},
    background_calls.arguments, background_calls.policy,
    background_calls.upstream_reference AS "reference"`;

export function toBackgroundCall(row: BackgroundCallRow): BackgroundCall {
  const { arguments: args, policy } = row;
  const reference = row.reference === null ? null : (JSON.parse(row.reference) as object);
  return { ...toCallSummary(row), arguments: args, policy, reference };
}

export function toCallSummary(row: CallSummaryRow): CallSummary {
  return {
    id: row.id,
    appId: row.appId,
    targetId: row.targetId,
    address: addressOf(row),
    status: row.status,
    handover: row.handover,
    driver: row.driver,
    ownerId: row.ownerId,
    agentId: row.agentId,
    turnId: row.turnId,
    toolCallId: row.toolCallId,
    server: { id: row.serverId, name: row.serverName, title: row.serverTitle },
    tool: row.tool,
    progress: row.progress === null ? null : (JSON.parse(row.progress) as CallProgress),
    error: errorOf(row),
    outcomeUnknown: row.outcomeUnknown,
    result: resultOf(row),
    questions: row.questions,
    inputRequest: inputRequestOf(row),
    traceparent: row.traceparent,
    createdAt: row.createdAt,
    startedAt: row.startedAt,
    backgroundedAt: row.backgroundedAt,
    deadlineAt: row.deadlineAt,
    cancelRequestedAt: row.cancelRequestedAt,
    endedAt: row.endedAt,
  };
}

function addressOf({ sessionId, teamId, botId }: CallSummaryRow): CallSummary['address'] {
  return sessionId === null
    ? { type: 'bot', teamId: teamId ?? '', botId: botId ?? '' }
    : { type: 'session', sessionId };
}

function errorOf({ errorCode, errorMessage }: CallSummaryRow): CallSummary['error'] {
  return errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' };
}

function inputRequestOf({ inputRequest }: CallSummaryRow): CallSummary['inputRequest'] {
  if (inputRequest === null) return null;
  return { ...inputRequest, schema: JSON.parse(inputRequest.schema) as Record<string, unknown> };
}

function resultOf(row: CallSummaryRow): CallSummary['result'] {
  if (row.resultBytes === null) return null;
  return {
    preview: row.resultPreview ?? '',
    isError: row.resultIsError ?? false,
    bytes: row.resultBytes,
    truncated: row.resultTruncated ?? false,
    files: row.resultFiles,
  };
}
