import { cutText, toStorableText } from '../../common/storable-text.js';
import { toolFlaw } from './tool-flaw.js';
import { UpstreamFailure } from '../upstream-failure.js';
import type { ToolPage, UpstreamTool } from '../upstream-session.js';

const MAX_PAGES = 100;
const MAX_SHOWN_NAME_CHARS = 300;

/** Something in a tool list that is not offered, while the tools beside it are. */
export interface LeftOutTool {
  /** As the upstream tells it, cut; null: it has none. */
  name: string | null;
  reason: string;
}

/** What an upstream offers, all pages. */
export interface ToolList {
  tools: UpstreamTool[];
  leftOut: LeftOutTool[];
}

/**
 * Follows the cursors of a tool list to its end. A tool that can't be offered is left out alone.
 * @throws UpstreamFailure when a cursor comes twice, or after 100 pages.
 */
export async function walkToolList(
  page: (cursor: string | undefined) => Promise<ToolPage>,
): Promise<ToolList> {
  const told: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const { tools, nextCursor } = await page(cursor);
    told.push(...tools);
    if (nextCursor !== undefined && (seen.has(nextCursor) || seen.size === MAX_PAGES - 1))
      throw new UpstreamFailure('upstream_error', 'The tool list of the upstream does not end.');
    if (nextCursor !== undefined) seen.add(nextCursor);
    cursor = nextCursor;
  } while (cursor !== undefined);
  return sortedOut(told);
}

function sortedOut(told: readonly unknown[]): ToolList {
  const tools = new Map<string, UpstreamTool>();
  const leftOut: LeftOutTool[] = [];
  for (const one of told) {
    const { name } = (one ?? {}) as { name?: unknown };
    const flaw = toolFlaw(one) ?? (tools.has(name as string) ? 'its name came before' : undefined);
    if (flaw === undefined) tools.set(name as string, one as UpstreamTool);
    else leftOut.push({ name: shown(name), reason: flaw });
  }
  return { tools: [...tools.values()], leftOut };
}

function shown(name: unknown): string | null {
  return typeof name === 'string' ? cutText(toStorableText(name), MAX_SHOWN_NAME_CHARS) : null;
}
