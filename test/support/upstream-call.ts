import type { ToolRequest, UpstreamListener } from '../../src/upstreams/upstream-call.js';

/** A call that may be run as a task. */
export function aToolRequest(
  tool: string,
  args: Record<string, unknown> = {},
  initiator = 'app/session/1',
): ToolRequest {
  return { tool, arguments: args, mayBeTask: true, maxResultBytes: 52_428_800, initiator };
}

/** Listens to these alone, and cancels questions. */
export function aListener(listener: Partial<UpstreamListener> = {}): UpstreamListener {
  return {
    onProgress: () => undefined,
    onReference: () => undefined,
    onQuestion: () => Promise.resolve({ action: 'cancel' }),
    ...listener,
  };
}
