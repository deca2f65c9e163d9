import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '../../src/common/logger.js';
import { EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres.js';
import { migrate } from '../../src/database/migrate.js';
import type { TestDatabase } from '../support/test-database.js';

/** What was committed outlasts the server, though not the machine. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: '200' };

/** A PostgreSQL that nobody else uses, so that it can be stopped. */
export class ChaosServer implements TestDatabase {
  private constructor(
    private readonly folder: string,
    private server: EmbeddedPostgres,
  ) {}

  static async start(): Promise<ChaosServer> {
    const folder = await mkdtemp(join(tmpdir(), 'server-'));
    // Root's server runs as another user.
    await chmod(folder, 0o755);
    const server = new ChaosServer(folder, await open(folder));
    await migrate(server.url);
    return server;
  }

  get url(): string {
    return this.server.url;
  }

  /** Stops it in order, as for an update, and starts it again at the same address. */
  async restart(stoppedMs: number): Promise<void> {
    await this.server.stop();
    await sleep(stoppedMs);
    this.server = await open(this.folder);
  }

  async drop(): Promise<void> {
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}

function open(folder: string): Promise<EmbeddedPostgres> {
  return EmbeddedPostgres.start({
    dataDir: folder,
    systemDir: folder,
    settings: SETTINGS,
    logger: Logger.create('silent'),
    onLost: () => undefined,
  });
}
