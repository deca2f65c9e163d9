import type { ToolRequest } from '../upstream-call.js';

/**
 * The `params` of a `tools/call`. The trace context travels under the key that MCP reserves for it:
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/index#meta
 */
export function toToolCallParams({ tool, arguments: args, traceparent }: ToolRequest): {
  name: string;
  arguments: Record<string, unknown>;
  _meta?: { traceparent: string };
} {
  return { name: tool, arguments: args, ...(traceparent && { _meta: { traceparent } }) };
}
