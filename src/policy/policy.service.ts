import { Injectable } from '@nestjs/common';
import { Settings } from '../settings/settings.js';
import { McpServerDirectory } from '../upstreams/registration/mcp-server.directory.js';
import { type CallPolicy, type PolicyWish, resolvePolicy } from './call-policy.js';

/** Decides from memory alone: resolving a policy causes no database statement. */
@Injectable()
export class PolicyService {
  constructor(
    private readonly settings: Settings,
    private readonly servers: McpServerDirectory,
  ) {}

  resolve(serverId: string, tool: string, wish: PolicyWish, hasParentCall: boolean): CallPolicy {
    return resolvePolicy({
      settings: this.settings.current,
      toolMode: this.servers.toolMode(serverId, tool),
      wish,
      hasParentCall,
    });
  }
}
