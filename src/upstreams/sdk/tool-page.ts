import { UpstreamFailure } from '../upstream-failure.js';
import type { ToolPage, UpstreamTool } from '../upstream-session.js';

/** Reads a `tools/list` answer; what has no name is no tool. @throws UpstreamFailure when there is no list. */
export function toToolPage({ tools, nextCursor }: Record<string, unknown>): ToolPage {
  if (!Array.isArray(tools))
    throw new UpstreamFailure('upstream_error', 'The upstream answered tools/list without a list.');
  return {
    tools: tools.filter(isTool),
    nextCursor: typeof nextCursor === 'string' ? nextCursor : undefined,
  };
}

function isTool(value: unknown): value is UpstreamTool {
  return typeof (value as Partial<UpstreamTool> | null)?.name === 'string';
}
