import { McpTestServer, type McpServerOptions } from './mcp-server.js';

/** MCP servers that are started in the course of a test and stopped after it. */
export class UpstreamsOfTest {
  private started: McpTestServer[] = [];

  async start(options: McpServerOptions = {}): Promise<McpTestServer> {
    const upstream = await McpTestServer.start(options);
    this.started.push(upstream);
    return upstream;
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.started.splice(0).map((upstream) => upstream.stop()));
  }

  /** Leaves those to the test that were started so far. */
  forget(): void {
    this.started = [];
  }
}
