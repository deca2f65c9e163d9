import { toPublicId } from '../../common/ids.js';
import type { Locale } from '../../common/locale.js';
import type { CallNotice, Notice } from '../call-notice.js';
import { durationText } from './duration-text.js';
import { secondOf } from './instant-text.js';
import { fenceForeign, quoteForeign, quoteForeignLine } from './foreign-text.js';
import { inputRequestLines } from './input-request-text.js';
import { EN } from './message-texts.en.js';
import type { MessageTexts } from './message-texts.js';
import { ZH_CN } from './message-texts.zh-cn.js';

const TEXTS: Record<Locale, MessageTexts> = { 'zh-CN': ZH_CN, en: EN };
const MAX_NAME_CHARS = 120;
const MAX_ARGUMENTS_CHARS = 300;
const MAX_DETAIL_CHARS = 1_000;

/** What the model reads of one call that ended or asks; `at` is when the message is made. */
export function noticeText(locale: Locale, notice: Notice, at: Date, isFirst: boolean): string {
  const texts = TEXTS[locale];
  const tool = quoteForeignLine(notice.tool, MAX_NAME_CHARS);
  const startedMsAgo = at.getTime() - Date.parse(notice.startedAt);
  return [
    headingLine(locale, notice, tool),
    // Once a message is enough: it holds for all of it.
    ...(isFirst ? [texts.systemMessage] : []),
    texts.purpose(tool, quoteForeignLine(notice.argumentsPreview, MAX_ARGUMENTS_CHARS)),
    texts.age(secondOf(notice.startedAt), durationText(locale, startedMsAgo)),
    ...(notice.status === 'input_required'
      ? inputRequestLines(texts, notice)
      : [...endLines(texts, notice), ...resultLines(texts, notice)]),
  ].join('\n');
}

function headingLine(locale: Locale, notice: Notice, tool: string): string {
  return TEXTS[locale].heading(notice.status, {
    server: quoteForeignLine(notice.serverTitle, MAX_NAME_CHARS),
    tool,
    id: toPublicId('bgc', notice.callId),
    duration: durationText(locale, notice.durationMs),
  });
}

function endLines(texts: MessageTexts, notice: CallNotice): string[] {
  const { status, error, outcomeUnknown, isUnstarted } = notice;
  if (status === 'completed') return [texts.completed];
  if (status === 'cancelled') return [isUnstarted ? texts.cancelledUnstarted : texts.cancelled];
  const code = error?.code ?? '';
  const detail = quoteForeignLine(error?.message ?? '', MAX_DETAIL_CHARS);
  return [
    // A notification may have been written by a later version: its code is shown as it is.
    texts.reason((texts.reasons as Record<string, string>)[code] ?? code),
    ...(detail === '' ? [] : [texts.detail(detail)]),
    ...(outcomeUnknown ? [texts.outcomeUnknown] : []),
  ];
}

function resultLines(texts: MessageTexts, notice: CallNotice): string[] {
  const { status, preview } = notice;
  const where = whereLines(texts, notice);
  if (preview === null || preview === '')
    return [...(status === 'completed' ? [texts.noText] : []), ...where];
  return [texts.result, ...where, fenceForeign(preview)];
}

/** Where the rest of the result is, when it is not all shown. */
function whereLines(texts: MessageTexts, notice: CallNotice): string[] {
  const { callId, error, files, resultBytes, truncated } = notice;
  const isKeptWhole = error?.code !== 'output_limit';
  const isFiled = Boolean(files);
  const size = { bytes: resultBytes ?? 0, isKeptWhole, isFiled };
  return [
    ...(truncated ? [texts.onlyBeginning(size)] : isFiled ? [texts.filed] : []),
    ...(files?.listed ?? []).map(({ path, bytes }) => texts.file(quoteForeign(path), bytes)),
    ...(files?.unlisted ? [texts.moreFiles(files.unlisted, toPublicId('bgc', callId))] : []),
    ...(files?.unfiled ? [texts.moreParts(files.unfiled)] : []),
  ];
}
