import type { CallErrorCode } from '../common/call-error-code.js';
import type { FiledResult } from '../delivery/files/filed-result.js';
import type { TargetAddress } from '../targets/target-address.js';
import type { CallStatus } from './call-status.js';
import type { Driver } from './in-flight/work-reference.js';
import type { InputRequest } from './questions/input-request.js';

/**
 * Why a call moved: its timer, its mode, a caller that hung up, no free slot when it was asked for, or a
 * question of its upstream.
 */
export const HANDOVERS = ['auto', 'always', 'client_timeout', 'queued', 'input_required'] as const;
export type Handover = (typeof HANDOVERS)[number];

export interface CallProgress {
  progress: number;
  total: number | null;
  message: string | null;
  /** When it arrived, RFC 3339. */
  at: string;
}

export interface CallError {
  code: CallErrorCode;
  message: string;
}

/** What of a result is shown in lists, events and messages; the whole is in `call_results`. */
export interface ResultSummary {
  preview: string;
  isError: boolean;
  /** Size of the whole result as JSON, in bytes. */
  bytes: number;
  /** Whether the preview leaves something out. */
  truncated: boolean;
  /** Null when it is no file. */
  files: FiledResult | null;
}

export interface CallServer {
  id: string;
  name: string;
  title: string;
}

/** A handed-over tool call as lists show it. Ids are UUIDs here, TypeIDs in the API. */
export interface CallSummary {
  id: string;
  appId: string;
  targetId: number;
  address: TargetAddress;
  status: CallStatus;
  handover: Handover;
  driver: Driver;
  ownerId: string | null;
  agentId: string | null;
  turnId: string | null;
  toolCallId: string | null;
  server: CallServer;
  tool: string;
  progress: CallProgress | null;
  error: CallError | null;
  outcomeUnknown: boolean;
  result: ResultSummary | null;
  /** The number of the last question of its upstream; 0: it never asked. */
  questions: number;
  /** The one that is open, while the call waits for its answer. */
  inputRequest: InputRequest | null;
  traceparent: string | null;
  createdAt: Date;
  startedAt: Date | null;
  backgroundedAt: Date;
  deadlineAt: Date | null;
  cancelRequestedAt: Date | null;
  endedAt: Date | null;
}

/** A handed-over tool call, whole. */
export interface BackgroundCall extends CallSummary {
  /** JSON text, exactly as it is sent upstream. */
  arguments: string;
  /** As it was resolved for this call; what is shown of it has more fields. */
  policy: HandoverPolicy;
  /** What another process needs to go on with the work, for its driver to read; null: none could. */
  reference: object | null;
}

/** What is known of a call at the moment of its handover. */
export interface HandoverRequest {
  id: string;
  appId: string;
  address: TargetAddress;
  /** `queued`: it waits for a slot and starts by itself. */
  handover: Handover;
  agentId: string | undefined;
  turnId: string | undefined;
  toolCallId: string | undefined;
  server: CallServer;
  tool: string;
  arguments: string;
  policy: HandoverPolicy;
  progress: CallProgress | undefined;
  /** As the work told it last; undefined: nobody else could go on with it. */
  reference: object | undefined;
  traceparent: string | undefined;
  /** Milliseconds since the upstream was asked; undefined: it was not asked yet. */
  runningForMs: number | undefined;
  /** It takes no slot now: its work has ended and is only recorded, or it is queued. */
  ignoreLimits: boolean;
}

/** The part of a call's policy that matters once it is in the background. */
export interface HandoverPolicy {
  maxHours: number;
  idleTimeoutSec: number | null;
  inlineChars: number;
  maxBytes: number;
}

/** What became of the attempt to hand a call over. */
export type HandoverResult =
  | { kind: 'moved'; call: BackgroundCall }
  | { kind: 'limit_reached' }
  /** The call's turn was ended with `interrupted` meanwhile. */
  | { kind: 'turn_interrupted' }
  /** This process lost its lease and may not own calls until it has a new one. */
  | { kind: 'not_owner' };
