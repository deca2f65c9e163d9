import { Injectable } from '@nestjs/common';
import type { BackgroundCall } from '../background-calls/background-call.js';
import { CallDriver } from '../background-calls/call-driver.js';
import type { CallOutcome } from '../background-calls/call-outcome.js';
import type { CallWork } from '../background-calls/call-work.js';
import { targetKey } from '../targets/target-address.js';
import { McpServerDirectory } from '../upstreams/registration/mcp-server.directory.js';
import type { UpstreamReference } from '../upstreams/upstream-call.js';
import { UpstreamPool } from '../upstreams/upstream-pool.js';
import { DispatchMark } from './dispatch-mark.js';
import { endedWork } from './ended-work.js';
import { interrupted, resumedWork } from './resumed-work.js';

/** Does the upstream request of a call that this process runs by what its row says. */
@Injectable()
export class UpstreamCallDriver extends CallDriver {
  constructor(
    private readonly servers: McpServerDirectory,
    private readonly upstreams: UpstreamPool,
    private readonly dispatchMark: DispatchMark,
  ) {
    super();
  }

  start(call: BackgroundCall): CallWork {
    const server = this.servers.byId(call.server.id);
    if (!server?.enabled) return endedWork(gone(call.server.name));
    const request = {
      tool: call.tool,
      arguments: JSON.parse(call.arguments) as Record<string, unknown>,
      mayBeTask: true,
      maxResultBytes: call.policy.maxBytes,
      traceparent: call.traceparent ?? undefined,
      initiator: targetKey(call.appId, call.address),
    };
    return this.dispatchMark.workOf(call, (listener) =>
      this.upstreams.call(server, request, listener),
    );
  }

  /** Also at a server that was switched off meanwhile: that is for new calls. */
  resume(call: BackgroundCall, reference: object): CallWork {
    const server = this.servers.byId(call.server.id);
    if (!server) return endedWork(interrupted(`the MCP server "${call.server.name}" was removed.`));
    if (!isOfUpstream(reference)) return endedWork(interrupted('its reference is unknown.'));
    const { maxBytes } = call.policy;
    return resumedWork((listener) => this.upstreams.resume(server, reference, maxBytes, listener));
  }
}

/** Rows outlive versions of this service. */
function isOfUpstream(reference: object): reference is UpstreamReference {
  return 'kind' in reference && (reference.kind === 'task' || reference.kind === 'stream');
}

function gone(name: string): CallOutcome {
  const message = `The MCP server "${name}" was removed or switched off while the call waited.`;
  return { kind: 'error', code: 'upstream_unreachable', message, outcomeUnknown: false };
}
