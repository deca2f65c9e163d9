import { type Bytes, endOf } from './byte-store.js';
import { JsonScan } from './json-scan.js';

const ESCAPE_CHARS = 6;
const HIGH_SURROGATE = /^\\u[dD][89abAB]/;
const LOOKED_AT_BYTES = 2 * ESCAPE_CHARS;

/**
 * Reads the beginning of JSON: what was begun last and can't be told yet is left out, a text is cut
 * between characters, and what is open is closed. Undefined when nothing can be read.
 */
export function readPartialJson(beginning: Bytes): unknown {
  const scan = new JsonScan();
  for (const block of beginning) scan.add(block);
  if (scan.isBroken || scan.goodEnd === undefined) return undefined;
  const text = scan.isInValue
    ? `${textBefore(textEnd(scan, beginning), beginning)}"`
    : textBefore(scan.goodEnd, beginning);
  try {
    return JSON.parse(text + scan.closing);
  } catch {
    return undefined;
  }
}

/** Where a text that has no end yet can be cut: before an escape, or a pair of them, that is not whole. */
function textEnd({ bytes, escapes }: JsonScan, beginning: Bytes): number {
  const lastBytes = endOf(beginning, LOOKED_AT_BYTES).toString('latin1');
  const [last, before] = escapes;
  const lastEscape = lastBytes.slice(last - bytes);
  const isNearEnd = last !== -1 && bytes - last <= ESCAPE_CHARS;
  if (!isNearEnd || !(isCut(lastEscape) || HIGH_SURROGATE.test(lastEscape))) return bytes;
  const isPair = before === last - ESCAPE_CHARS;
  return isPair && HIGH_SURROGATE.test(lastBytes.slice(before - bytes)) ? before : last;
}

function isCut(escape: string): boolean {
  return escape.length < (escape[1] === 'u' ? ESCAPE_CHARS : 2);
}

/** Without the beginning of a character at its end. */
function textBefore(end: number, bytes: Bytes): string {
  const decoder = new TextDecoder();
  let text = '';
  let from = 0;
  for (const block of bytes) {
    if (from >= end) break;
    text += decoder.decode(block.subarray(0, end - from), { stream: true });
    from += block.length;
  }
  return text;
}
