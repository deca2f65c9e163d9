import { Module, type OnModuleInit } from '@nestjs/common';
import { OutboundModule } from '../outbound/outbound.module.js';
import { SecretsModule } from '../secrets/secrets.module.js';
import { AllowedConnector } from './allowed.connector.js';
import { McpServersController } from './http/mcp-servers.controller.js';
import { ToolsController } from './http/tools.controller.js';
import { McpServerDirectory } from './mcp-server.directory.js';
import { McpServerRepository } from './mcp-server.repository.js';
import { McpServerService } from './mcp-server.service.js';
import { SdkConnector } from './sdk/sdk-connector.js';
import { SecretRenewal } from './secret-renewal.js';
import { ServerProber } from './server-prober.js';
import { ServerSecrets } from './server-secrets.js';
import { ServerStateRepository } from './server-state.repository.js';
import { ServerStates } from './server-states.js';
import { ServerTester } from './server-tester.js';
import { StdioCommands } from './stdio-commands.js';
import { ToolModeRepository } from './tool-mode.repository.js';
import { ToolService } from './tool.service.js';
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
