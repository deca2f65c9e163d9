import type { FiledResult } from './files/filed-result.js';
import type { InputNotice } from './input-notice.js';

/** What an ended call has to tell, taken at the moment it ended. */
export interface CallNotice {
  /** UUID. */
  callId: string;
  serverName: string;
  serverTitle: string;
  tool: string;
  status: 'completed' | 'failed' | 'cancelled';
  error: { code: string; message: string } | null;
  /** The work may have been done although no result came. */
  outcomeUnknown: boolean;
  /** The arguments in short, as JSON: what the call was for. */
  argumentsPreview: string;
  /** The beginning of the result as text; null when there is none. */
  preview: string | null;
  /** Size of the whole result. */
  resultBytes: number | null;
  /** Whether the preview is not the whole result. */
  truncated: boolean;
  /** Left out by versions that wrote no files. */
  files?: FiledResult | null;
  /** It ended before its work began. Left out by versions without a queue. */
  isUnstarted?: boolean;
  /** When it was asked for. */
  startedAt: string;
  endedAt: string;
  durationMs: number;
  traceparent: string | null;
}

/** What a call has to tell: its end, or what it asks. */
export type Notice = CallNotice | InputNotice;

/** A notice that has its place among those of its target. */
export interface PlacedNotice {
  /** UUID of the notification. */
  id: string;
  notice: Notice;
}

/** When that which is told happened, RFC 3339. */
export function happenedAt(notice: Notice): string {
  return notice.status === 'input_required' ? notice.askedAt : notice.endedAt;
}
