import { ServiceProcess } from '../test/support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../test/support/test-database.js';
import { Client } from './client.js';
import { UpstreamProcess } from './upstream-process.js';

/** Above what any figure asks for. */
const NO_LIMIT = 100_000;

export interface Replica {
  process: ServiceProcess;
  client: Client;
}

/** What one figure stands on: a database and an upstream, and the services that it starts on them. */
export class Ground {
  private readonly replicas: Replica[] = [];

  private constructor(
    private readonly database: TestDatabase,
    readonly upstream: UpstreamProcess,
    private readonly profileDir: string | undefined,
  ) {}

  /** Where a folder for profiles is named, each service leaves one there of the time on its processor. */
  static async prepare(profileDir?: string): Promise<Ground> {
    return new Ground(await createTestDatabase(), await UpstreamProcess.start(), profileDir);
  }

  get databaseUrl(): string {
    return this.database.url;
  }

  /** A service with its defaults, whose MCP server is `bench`, and without limits of background calls. */
  async service(env: Record<string, string> = {}): Promise<Replica> {
    const { profileDir, database } = this;
    const nodeArgs = profileDir ? ['--cpu-prof', `--cpu-prof-dir=${profileDir}`] : [];
    const process = await ServiceProcess.start({ DATABASE_URL: database.url, ...env }, nodeArgs);
    const replica = { process, client: new Client(process.url) };
    this.replicas.push(replica);
    if (this.replicas.length === 1) {
      await process.register('bench', this.upstream.url);
      await process.settings({ backgroundCalls: { maxPerTarget: NO_LIMIT } });
    }
    return replica;
  }

  async clear(): Promise<void> {
    for (const { process, client } of this.replicas) {
      await client.close();
      await process.end(this.profileDir ? 'SIGTERM' : 'SIGKILL');
    }
    this.upstream.stop();
    await this.database.drop();
  }
}
