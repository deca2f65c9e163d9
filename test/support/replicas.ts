import { randomUUID } from 'node:crypto';
import type { CallMode } from '../../src/common/call-mode.js';
import { fromPublicId } from '../../src/common/ids.js';
import { Settings } from '../../src/settings/settings.js';
import { McpServerDirectory } from '../../src/upstreams/registration/mcp-server.directory.js';
import { Api } from './api.js';
import { Engine } from './engine.js';
import { eventually } from './eventually.js';
import { KEYS } from './keys.js';
import { TestService } from './service.js';
import type { ServiceUnderTest } from './service-fixture.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

/** At every third request, so that it happens in the middle of each test. */
const REQUESTS_PER_CUT = 3;
const CUT_LISTENERS = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE application_name = 'background-calls listener' AND datname = current_database()`;

interface ReplicasOptions {
  /** Whether the LISTEN connections of all replicas break again and again. */
  losesListeners?: boolean;
}

/** Two services on one database; each request goes to the one that did not get the last. */
export class TestReplicas implements ServiceUnderTest {
  readonly agent: Api;
  readonly admin: Api;
  private requests = 0;
  private cutting: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly replicas: [TestService, TestService],
    private readonly database: TestDatabase,
    private readonly losesListeners: boolean,
  ) {
    this.agent = new Api(() => this.nextUrl(), KEYS.BGC_AGENT_KEY);
    this.admin = new Api(() => this.nextUrl(), KEYS.BGC_ADMIN_KEY);
  }

  static async start({ losesListeners = false }: ReplicasOptions = {}): Promise<TestReplicas> {
    const database = await createTestDatabase();
    const replicas = [await TestService.start({ database }), await TestService.start({ database })];
    return new TestReplicas(replicas as [TestService, TestService], database, losesListeners);
  }

  /** A session that no other test knows. */
  session(sessionId = `session-${randomUUID()}`): Engine {
    return new Engine(this.agent, sessionId);
  }

  /** Resolves when every replica knows the server. */
  async register(name: string, url: string): Promise<string> {
    const id = await this.replicas[0].register(name, url);
    await this.everywhere(
      `${name} is known`,
      (replica) => replica.get(McpServerDirectory).byName(name) !== undefined,
    );
    return id;
  }

  /** Resolves when the settings are in force on every replica. */
  async settings(changes: object): Promise<void> {
    const [first] = this.replicas;
    await first.settings(changes);
    const inForce = JSON.stringify(first.get(Settings).current);
    await this.everywhere(
      'the settings are in force',
      (replica) => JSON.stringify(replica.get(Settings).current) === inForce,
    );
  }

  /** Resolves when every replica runs the tool so. */
  async markTool(serverId: string, tool: string, background: CallMode): Promise<void> {
    const uuid = fromPublicId('msv', serverId) ?? '';
    await this.replicas[0].markTool(serverId, tool, background);
    await this.everywhere(
      `${tool} is ${background}`,
      (replica) => replica.get(McpServerDirectory).toolMode(uuid, tool) === background,
    );
  }

  /** A part of the first replica. */
  get<T>(token: abstract new (...args: never[]) => T): T {
    return this.replicas[0].get(token);
  }

  sql<R extends object>(statement: string, values: unknown[] = []): Promise<R[]> {
    return this.replicas[0].sql<R>(statement, values);
  }

  async stop(): Promise<void> {
    await this.cutting;
    await Promise.all(this.replicas.map((replica) => replica.stop()));
    await this.database.drop();
  }

  private nextUrl(): string {
    this.requests += 1;
    if (this.losesListeners && this.requests % REQUESTS_PER_CUT === 0)
      this.cutting = this.cutting.then(() => this.sql(CUT_LISTENERS));
    return this.replicas[this.requests % 2 === 0 ? 1 : 0].url;
  }

  private async everywhere(what: string, holds: (replica: TestService) => boolean): Promise<void> {
    await eventually(`${what} everywhere`, () => this.replicas.every(holds));
  }
}
