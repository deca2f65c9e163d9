import { Injectable } from '@nestjs/common';
import { CallQueue } from '../background-calls/queue/call-queue.js';
import { Ids } from '../common/ids.js';
import { PolicyService } from '../policy/policy.service.js';
import { McpServerDirectory } from '../upstreams/registration/mcp-server.directory.js';
import type { ToolCall, ToolCallRequest } from './tool-call.js';
import { LimitReachedError, ServerNotFoundError } from './tool-call.errors.js';

/** What is decided about a call before anything happens: its server, its policy, whether it may start. */
@Injectable()
export class ToolCallAdmission {
  constructor(
    private readonly servers: McpServerDirectory,
    private readonly policies: PolicyService,
    private readonly queue: CallQueue,
    private readonly ids: Ids,
  ) {}

  /** @throws ServerNotFoundError, LimitReachedError */
  async admit(request: ToolCallRequest): Promise<ToolCall> {
    const server = this.servers.byName(request.server);
    if (!server?.enabled) throw new ServerNotFoundError(request.server);
    const hasParent = request.parentCallId !== undefined;
    const policy = this.policies.resolve(server.id, request.tool, request.wish, hasParent);
    const isRefusedWhenFull = policy.onLimit === 'reject' && policy.mode !== 'never';
    if (isRefusedWhenFull && !(await this.queue.hasFreeSlot(request)))
      throw new LimitReachedError();
    return { id: this.ids.uuid(), request, server, policy };
  }
}
