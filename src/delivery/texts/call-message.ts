import { toPublicId } from '../../common/ids.js';
import type { Locale } from '../../common/locale.js';
import type { TargetAddress } from '../../targets/target-address.js';
import type { CallNotice, Notice, PlacedNotice } from '../call-notice.js';
import type { InputNotice } from '../input-notice.js';
import type { MessageKind } from '../message-kind.js';
import { noticeText } from './message-text.js';

/** A wake-up stays readable, however much ended meanwhile; the rest comes in the next message. */
export const MAX_NOTIFICATIONS = 20;
export const MAX_TEXT_BYTES = 65_536;
const BETWEEN_NOTICES = '\n\n';

interface MessageDraft {
  /** UUID. */
  id: string;
  address: TargetAddress;
  locale: Locale;
  createdAt: Date;
  /** Oldest first, at least one. */
  waiting: PlacedNotice[];
}

interface ComposedMessage {
  /** The notices that found room in the message, at least the first. */
  told: PlacedNotice[];
  kind: MessageKind;
  /** The JSON that is handed out. */
  body: string;
}

/**
 * Makes the message that tells a target of its calls: of those that ended, or of those that ask. What is of
 * the other kind, and whatever comes after it, waits for the next message, so that the order stays.
 */
export function composeMessage(draft: MessageDraft): ComposedMessage {
  const { told, text } = textWithinBounds(draft);
  const kind = kindOf(told[0]?.notice);
  const body = {
    id: toPublicId('msg', draft.id),
    kind,
    target: draft.address,
    text,
    notifications: told.map(presentNotice),
    traceparent: told[0]?.notice.traceparent ?? null,
    createdAt: draft.createdAt.toISOString(),
  };
  return { told, kind, body: JSON.stringify(body) };
}

function textWithinBounds(draft: MessageDraft): { told: PlacedNotice[]; text: string } {
  const told: PlacedNotice[] = [];
  let text = '';
  for (const placed of draft.waiting.slice(0, MAX_NOTIFICATIONS)) {
    const isFirst = told.length === 0;
    if (!isFirst && kindOf(placed.notice) !== kindOf(told[0]?.notice)) break;
    const section = noticeText(draft.locale, placed.notice, draft.createdAt, isFirst);
    const longer = isFirst ? section : text + BETWEEN_NOTICES + section;
    if (!isFirst && Buffer.byteLength(longer) > MAX_TEXT_BYTES) break;
    told.push(placed);
    text = longer;
  }
  return { told, text };
}

function kindOf(notice: Notice | undefined): MessageKind {
  return notice?.status === 'input_required'
    ? 'background_call.input_required'
    : 'background_call.result';
}

function presentNotice({ id, notice }: PlacedNotice): Record<string, unknown> {
  return {
    id: toPublicId('ntf', id),
    callId: toPublicId('bgc', notice.callId),
    server: notice.serverName,
    tool: notice.tool,
    status: notice.status,
    durationMs: notice.durationMs,
    ...(notice.status === 'input_required' ? presentQuestion(notice) : presentEnd(notice)),
  };
}

function presentEnd(notice: CallNotice): Record<string, unknown> {
  return {
    ...(notice.error === null ? {} : { error: notice.error }),
    preview: notice.preview,
    ...(notice.files ? { resultFile: notice.files.main } : {}),
    resultBytes: notice.resultBytes,
    truncated: notice.truncated,
  };
}

function presentQuestion({ inputRequest }: InputNotice): Record<string, unknown> {
  return { preview: null, resultBytes: null, truncated: false, inputRequest };
}
