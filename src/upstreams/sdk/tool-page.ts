import { UpstreamFailure } from '../upstream-failure.js';
import type { ToolPage } from '../upstream-session.js';

/** Reads a `tools/list` answer. @throws UpstreamFailure when there is no list. */
export function toToolPage({ tools, nextCursor }: Record<string, unknown>): ToolPage {
  if (!Array.isArray(tools))
    throw new UpstreamFailure('upstream_error', 'The upstream answered tools/list without a list.');
  return {
    tools,
    nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined,
  };
}
