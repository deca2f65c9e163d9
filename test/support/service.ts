import { randomUUID } from 'node:crypto';
import type { CallMode } from '../../src/common/call-mode.js';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '../../src/config/environment.js';
import { Database } from '../../src/database/database.js';
import { Service } from '../../src/service.js';
import { changeSettings, registerServer } from './administration.js';
import { Api } from './api.js';
import { Engine } from './engine.js';
import { KEYS } from './keys.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

interface TestServiceOptions {
  /** Added to the environment. */
  env?: Record<string, string>;
  /** Shared with another service; by default one of its own. */
  database?: TestDatabase;
}

/** The whole service in this process, on a database of its own and a free port. */
export class TestService {
  readonly agent: Api;
  readonly admin: Api;

  private constructor(
    private readonly service: Service,
    private readonly database: TestDatabase,
    private readonly ownsDatabase: boolean,
  ) {
    this.agent = new Api(service.url, KEYS.BGC_AGENT_KEY);
    this.admin = new Api(service.url, KEYS.BGC_ADMIN_KEY);
  }

  static async start({ env = {}, database }: TestServiceOptions = {}): Promise<TestService> {
    const own = database ?? (await createTestDatabase());
    const configuration = readEnvironment({
      ...KEYS,
      PORT: '0',
      LOG_LEVEL: 'silent',
      BGC_DEMO: 'false',
      BGC_OUTBOUND_ALLOW: '127.0.0.1',
      BGC_DRAIN_SEC: '2',
      DATABASE_URL: own.url,
      BGC_WORKSPACES_DIR: join(tmpdir(), 'workspaces'),
      ...env,
    });
    return new TestService(await Service.start(configuration), own, database === undefined);
  }

  get url(): string {
    return this.service.url;
  }

  get databaseUrl(): string {
    return this.database.url;
  }

  /** A session that no other test knows. */
  session(sessionId = `session-${randomUUID()}`): Engine {
    return new Engine(this.agent, sessionId);
  }

  /** Registers an MCP server under a name. */
  async register(name: string, url: string): Promise<string> {
    return registerServer(this.admin, name, url);
  }

  /** Says how a tool of this server is run. */
  async markTool(serverId: string, tool: string, background: CallMode): Promise<void> {
    const path = `/admin/v1/mcp-servers/${serverId}/tools/${tool}`;
    const answer = await this.admin.patch(path, { background });
    if (answer.status !== 200) throw new Error(`not marked: ${answer.text}`);
  }

  async settings(changes: object): Promise<void> {
    await changeSettings(this.admin, changes);
  }

  get<T>(token: abstract new (...args: never[]) => T): T {
    return this.service.get(token);
  }

  /** Runs SQL on the service's database. */
  async sql<R extends object>(statement: string, values: unknown[] = []): Promise<R[]> {
    return this.get(Database).query<R>(statement, values);
  }

  async stop(): Promise<void> {
    await this.service.stop();
    if (this.ownsDatabase) await this.database.drop();
  }
}
