import { isDeeperThan } from '../../../common/json-depth.js';
import { isJsonObject } from '../../../common/json-object.js';
import type { ToolResult } from '../../upstream-call.js';
import { MAX_LEVELS } from '../answer-limits.js';
import { beginning, type Bytes } from './byte-store.js';
import { readPartialJson } from './partial-json.js';

/**
 * So much of what came is read: it is held several times over while it is read, written and delivered, and
 * all that together shall not be much more than the answer that was allowed.
 */
const READ_PART = 1 / 4;

const NOTHING: ToolResult = { content: [], isError: false };

type Fields = Record<string, unknown>;

/** The beginning of an answer that is longer than allowed. It never travels: its bytes are seen here alone. */
export class OversizedAnswer extends Error {
  readonly #head: Bytes;

  constructor(
    head: Bytes,
    /** How many have come, at least. */
    readonly bytes: number,
  ) {
    super(`its answer has more than ${bytes} bytes`);
    const came = head.reduce((sum, block) => sum + block.length, 0);
    this.#head = beginning(head, Math.ceil(came * READ_PART));
  }

  /**
   * The beginning of its result: parts that are whole, and the text that came last as far as it is read.
   * Takes a while.
   */
  kept(): ToolResult {
    const read = readPartialJson(this.#head);
    const answers = (Array.isArray(read) ? read : [read]).filter(isJsonObject);
    const result = answers.map((answer) => answer['result']).findLast(isJsonObject);
    if (result === undefined || isDeeperThan(MAX_LEVELS, result)) return NOTHING;
    return { content: contentOf(result), isError: result['isError'] === true };
  }
}

function contentOf(result: Fields): unknown[] {
  const { content, structuredContent } = result;
  if (Array.isArray(content) && content.length > 0) return keptParts(content, result);
  if (structuredContent === undefined) return [];
  return [{ type: 'text', text: JSON.stringify(structuredContent) }];
}

/** The last part may have been cut: of texts that is as good as whole, of anything else it is nothing. */
function keptParts(content: unknown[], result: Fields): unknown[] {
  if (Object.keys(result).at(-1) !== 'content') return content;
  const last = content.at(-1);
  const before = content.slice(0, -1);
  if (!isJsonObject(last)) return before;
  if (typeof last['text'] === 'string') return [...before, { type: 'text', ...last }];
  const resource = last['resource'];
  const isTextResource = isJsonObject(resource) && typeof resource['text'] === 'string';
  return isTextResource ? content : before;
}
