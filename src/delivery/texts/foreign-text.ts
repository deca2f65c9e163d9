import { cutText } from '../../common/storable-text.js';

/** Joiners shape scripts and emoji, tab and line feed shape text: they stay as they are. */
const KEPT = new Set(['\t', '\n', '\u200C', '\u200D']);
/** Control and format characters (bidirectional ones, tags, zero width), line and paragraph separators. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const IGNORED_WHEN_READ = /[\p{Cf}\p{M}]/gu;
const HEADING_WORDS = ['后台调用', 'backgroundcall'].map((words) => [...words].join('\\s*'));
/** The beginning of one of our headings, as it looks after `fold`. */
const HEADING = new RegExp(`[【\\[〖〔〘〚⟦]\\s*(?=${HEADING_WORDS.join('|')})`, 'gu');
const FENCE_RUN = /`+/g;
const MIN_FENCE = 3;

/**
 * Text that came from outside, so that in a message it cannot pass for ours: what cannot be seen is
 * written out (`\u{202e}`), and so is the bracket of whatever reads like one of our headings.
 */
export function quoteForeign(text: string): string {
  const lines = text.toWellFormed().replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  return breakHeadings(lines.replace(UNSEEN, (char) => (KEPT.has(char) ? char : written(char))));
}

/** The same on one line of at most `maxChars`, for names, arguments and error messages. */
export function quoteForeignLine(text: string, maxChars: number): string {
  const line = quoteForeign(text).replace(/\s+/gu, ' ').trim();
  return line.length <= maxChars ? line : `${cutText(line, maxChars - 1)}…`;
}

/** Puts foreign text between fences that are longer than any run of backticks in it, so that it cannot close them. */
export function fenceForeign(text: string): string {
  const quoted = quoteForeign(text);
  const runs = fold(quoted).match(FENCE_RUN) ?? [];
  const longest = runs.reduce((length, run) => Math.max(length, run.length), MIN_FENCE - 1);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${quoted}\n${fence}`;
}

function breakHeadings(text: string): string {
  const starts = headingStarts(text);
  if (starts.size === 0) return text;
  return [...text].map((char, index) => (starts.has(index) ? written(char) : char)).join('');
}

/** Which characters open something that reads like a heading, whatever its width, case or marks. */
function headingStarts(text: string): Set<number> {
  const starts = new Set<number>();
  // Folding works character by character, so the cheap look at the whole finds the same.
  if (fold(text).search(HEADING) < 0) return starts;
  const owners: number[] = [];
  let folded = '';
  for (const [index, char] of [...text].entries()) {
    folded += fold(char);
    while (owners.length < folded.length) owners.push(index);
  }
  for (const match of folded.matchAll(HEADING)) starts.add(owners[match.index] as number);
  return starts;
}

function fold(text: string): string {
  return text.normalize('NFKD').replace(IGNORED_WHEN_READ, '').toLowerCase();
}

function written(char: string): string {
  return `\\u{${(char.codePointAt(0) as number).toString(16)}}`;
}
