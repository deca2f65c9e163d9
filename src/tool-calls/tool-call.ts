import type { BackgroundCall } from '../background-calls/background-call.js';
import type { ToolResult } from '../background-calls/call-outcome.js';
import type { CallPolicy, PolicyWish } from '../policy/call-policy.js';
import { type TargetAddress, targetKey } from '../targets/target-address.js';
import type { McpServer } from '../upstreams/mcp-server.js';
import type { ToolRequest } from '../upstreams/upstream-call.js';

/** A `tools/call` asked of the service. */
export interface ToolCallRequest {
  appId: string;
  address: TargetAddress;
  server: string;
  tool: string;
  arguments: Record<string, unknown>;
  turnId: string | undefined;
  toolCallId: string | undefined;
  agentId: string | undefined;
  parentCallId: string | undefined;
  wish: PolicyWish;
  traceparent: string | undefined;
}

/** A request whose server and policy are known; `id` becomes the background call's if it moves. */
export interface ToolCall {
  id: string;
  request: ToolCallRequest;
  server: McpServer;
  policy: CallPolicy;
}

/** What the upstream is asked. */
export function toUpstreamRequest({ request, policy }: ToolCall): ToolRequest {
  const { traceparent, tool, arguments: args, appId, address } = request;
  const initiator = targetKey(appId, address);
  const { mode, maxBytes: maxResultBytes } = policy;
  const mayBeTask = mode !== 'never';
  return { tool, arguments: args, mayBeTask, maxResultBytes, traceparent, initiator };
}

/** `result` can go straight to the model in both cases. */
export type ToolCallAnswer =
  | { outcome: 'completed'; result: ToolResult; durationMs: number }
  | { outcome: 'background'; call: BackgroundCall; result: ToolResult };
