import { UpstreamFailure } from './upstream-failure.js';
import type { ToolPage, UpstreamTool } from './upstream-session.js';

const MAX_PAGES = 100;

/**
 * Follows the cursors of a tool list to its end.
 * @throws UpstreamFailure when a cursor comes twice, or after 100 pages.
 */
export async function walkToolList(
  page: (cursor: string | undefined) => Promise<ToolPage>,
): Promise<UpstreamTool[]> {
  const tools: UpstreamTool[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const { tools: more, nextCursor } = await page(cursor);
    tools.push(...more);
    if (nextCursor !== undefined && (seen.has(nextCursor) || seen.size === MAX_PAGES - 1))
      throw new UpstreamFailure('upstream_error', 'The tool list of the upstream does not end.');
    if (nextCursor !== undefined) seen.add(nextCursor);
    cursor = nextCursor;
  } while (cursor !== undefined);
  return tools;
}
