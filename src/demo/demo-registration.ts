import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Configuration } from '../config/environment.js';
import { McpServerService } from '../upstreams/registration/mcp-server.service.js';
import { DemoUpstream } from './demo-upstream.js';

const REGISTRATION = {
  name: 'demo',
  title: 'Demo',
  transport: 'http',
  headers: {},
  enabled: true,
  sharing: 'shared',
} as const;

/** Runs the demo upstream and registers it as `demo`, where the configuration wants it. */
@Injectable()
export class DemoRegistration implements OnApplicationBootstrap, OnApplicationShutdown {
  private upstream: DemoUpstream | undefined;

  constructor(
    private readonly configuration: Configuration,
    private readonly servers: McpServerService,
  ) {}

  /** Its port is another one at each start. */
  async onApplicationBootstrap(): Promise<void> {
    if (!this.configuration.demo) return;
    this.upstream = await DemoUpstream.start();
    await this.servers.ensure({ ...REGISTRATION, url: this.upstream.url });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.upstream?.stop();
  }
}
