import { Module, type OnModuleInit } from '@nestjs/common';
import { OutboundModule } from '../outbound/outbound.module.js';
import { SecretsModule } from '../secrets/secrets.module.js';
import { AllowedConnector } from './connections/allowed.connector.js';
import { McpServersController } from './http/mcp-servers.controller.js';
import { ToolsController } from './http/tools.controller.js';
import { McpServerDirectory } from './registration/mcp-server.directory.js';
import { McpServerRepository } from './registration/mcp-server.repository.js';
import { McpServerService } from './registration/mcp-server.service.js';
import { SdkConnector } from './sdk/sdk-connector.js';
import { ProgramStarter } from './sdk/stdio/program-starter.js';
import { SecretRenewal } from './registration/secret-renewal.js';
import { ServerProber } from './reachability/server-prober.js';
import { ServerSecrets } from './registration/server-secrets.js';
import { ServerStateRepository } from './reachability/server-state.repository.js';
import { ServerStates } from './reachability/server-states.js';
import { ServerTester } from './reachability/server-tester.js';
import { StdioCommands } from './registration/stdio-commands.js';
import { ToolModeRepository } from './tools/tool-mode.repository.js';
import { ToolService } from './tools/tool.service.js';
import { UpstreamMetrics } from './upstream-metrics.js';
import { UpstreamPool } from './upstream-pool.js';
import { UpstreamConnector } from './upstream-session.js';

/** External MCP servers: registrations, connections, calls. */
@Module({
  imports: [OutboundModule, SecretsModule],
  controllers: [McpServersController, ToolsController],
  providers: [
    ServerSecrets,
    SecretRenewal,
    McpServerRepository,
    ToolModeRepository,
    McpServerDirectory,
    McpServerService,
    ToolService,
    StdioCommands,
    ServerStateRepository,
    ServerStates,
    ServerProber,
    ServerTester,
    ProgramStarter,
    SdkConnector,
    {
      provide: UpstreamConnector,
      inject: [StdioCommands, SdkConnector],
      useFactory: (commands: StdioCommands, connector: SdkConnector) =>
        new AllowedConnector(commands, connector),
    },
    UpstreamMetrics,
    UpstreamPool,
  ],
  exports: [McpServerDirectory, McpServerService, UpstreamPool],
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
