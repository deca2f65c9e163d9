import { isContainer } from '../../common/json-depth.js';
import { cutText, toStorableText } from '../../common/storable-text.js';
import type { ResultSummary } from '../background-call.js';
import type { ToolResult } from '../call-outcome.js';
import { describePart, partsOf } from './result-parts.js';

type ContentPart = Record<string, unknown>;

/** Sums a result up for people and models: its text parts, other parts by kind and size. */
export function summarizeResult(
  result: ToolResult,
  bytes: number,
  maxChars: number,
): Omit<ResultSummary, 'files'> {
  const text = toStorableText(contentParts(result).map(describePart).join('\n\n'));
  const shown = text === '' && 'structuredContent' in result ? structuredText(result) : text;
  return {
    preview: cutText(shown, maxChars),
    isError: result['isError'] === true,
    bytes,
    truncated: shown.length > maxChars,
  };
}

/** Keeps the parts that fit into `maxBytes`, in order; the first text that does not fit is cut. */
export function keepWithin(result: ToolResult, maxBytes: number): ToolResult {
  const kept: ContentPart[] = [];
  let left = maxBytes;
  for (const part of contentParts(result)) {
    const size = Buffer.byteLength(JSON.stringify(part));
    if (size > left) {
      const text = part['text'];
      // A UTF-16 unit takes at most 6 bytes of JSON: what is kept fits whatever it holds.
      if (typeof text === 'string')
        kept.push({ type: 'text', text: cutText(text, Math.floor(left / 6)) });
      break;
    }
    kept.push(part);
    left -= size;
  }
  return { content: kept, isError: result['isError'] === true };
}

/** What has nothing in it says nothing to anybody. */
function contentParts(result: ToolResult): ContentPart[] {
  return partsOf(result).filter(isContainer) as ContentPart[];
}

function structuredText(result: ToolResult): string {
  return toStorableText(JSON.stringify(result['structuredContent']) ?? '');
}
