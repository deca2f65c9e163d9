import { Module, type OnModuleInit } from '@nestjs/common';
import { OutboundModule } from '../outbound/outbound.module.js';
import { McpServerDirectory } from './mcp-server.directory.js';
import { McpServerRepository } from './mcp-server.repository.js';
import { SdkConnector } from './sdk/sdk-connector.js';
import { ToolModeRepository } from './tool-mode.repository.js';
import { UpstreamPool } from './upstream-pool.js';
import { UpstreamConnector } from './upstream-session.js';

/** External MCP servers: registrations, connections, calls. */
@Module({
  imports: [OutboundModule],
  providers: [
    McpServerRepository,
    ToolModeRepository,
    McpServerDirectory,
    { provide: UpstreamConnector, useClass: SdkConnector },
    UpstreamPool,
  ],
  exports: [McpServerDirectory, UpstreamPool],
})
export class UpstreamsModule implements OnModuleInit {
  constructor(
    private readonly directory: McpServerDirectory,
    private readonly pool: UpstreamPool,
  ) {}

  onModuleInit(): void {
    this.directory.onChange((servers) => this.pool.keepOnly(servers));
  }
}
