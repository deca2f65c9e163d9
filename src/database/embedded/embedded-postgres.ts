import * as path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../common/logger.js';
import { CLUSTER_NAME, clusterFolder } from './cluster-folder.js';
import { embeddedBinaries } from './embedded-binaries.js';
import { EmbeddedDatabaseError } from './embedded-database.error.js';
import { initializeCluster, ROLE } from './initialize-cluster.js';
import { lockState } from './postmaster-lock.js';
import { ServerProcess } from './server-process.js';
import { serverUser, type ServerUser } from './server-user.js';
import { removeSocketFolder, SOCKET_PORT, socketFolder } from './socket-folder.js';

const SYSTEM_DIR = '/var/lib/background-calls';
const WAIT_MS = { free: 10_000, held: 3_000, stopping: 30_000 };
/** PostgreSQL's own refusals: server messages are not translated, as it runs with LC_ALL=C. */
const IS_HELD = /lock file ".*" already exists|pre-existing shared memory block/;
const LOOK_MS = 50;
/** A server that dies so soon after it was started again is broken: once more would not mend it. */
const SHORTEST_LIFE_MS = 10_000;

interface EmbeddedOptions {
  dataDir: string;
  logger: Logger;
  /** Called when the server died and could not be started again: the process is of no more use. */
  onLost: () => void;
  /** Server settings, for example `{ fsync: 'off' }` for a database that need not survive. */
  settings?: Record<string, string>;
  /** Where root's server goes when it cannot enter `dataDir`. */
  systemDir?: string;
}

/**
 * Real PostgreSQL from an npm package, below the data folder and for this process alone: it stops
 * when this process ends, also by kill -9, and is started again when it dies.
 */
export class EmbeddedPostgres {
  /** Of the database `postgres`; the address is a unix socket. */
  readonly url: string;
  private server: ServerProcess | undefined;
  private isStopping = false;
  private restartedAt = -Infinity;

  private constructor(
    private readonly cluster: string,
    private readonly command: string[],
    private readonly user: ServerUser | undefined,
    private readonly options: EmbeddedOptions,
    private readonly socketDir: string,
  ) {
    this.url = `postgres://${ROLE}@${encodeURIComponent(socketDir)}/postgres`;
  }

  /** @throws EmbeddedDatabaseError which says what to change, for example that another process runs here. */
  static async start(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
    const dataDir = path.resolve(options.dataDir);
    const systemDir = options.systemDir ?? SYSTEM_DIR;
    const user = serverUser(path.join(dataDir, CLUSTER_NAME));
    const cluster = clusterFolder(dataDir, systemDir, user);
    if (path.dirname(cluster) !== dataDir)
      options.logger.warn('database.embedded_elsewhere', { dataDir, folder: cluster });
    const binaries = embeddedBinaries(user ? systemDir : dataDir, user);
    const isDurable = options.settings?.['fsync'] !== 'off';
    initializeCluster(binaries, cluster, user, isDurable);
    const socketDir = socketFolder(cluster, user);
    const command = serverCommand(binaries, cluster, socketDir, options.settings);
    const embedded = new EmbeddedPostgres(cluster, command, user, options, socketDir);
    await embedded.launch();
    return embedded;
  }

  /** Stops the server; what was committed is on disk. */
  async stop(): Promise<void> {
    this.isStopping = true;
    await this.server?.stop();
    removeSocketFolder(this.socketDir, this.cluster);
  }

  private async launch(): Promise<void> {
    const server = await this.startWhenFree();
    this.server = server;
    void server.exited.then((reason) => this.died(reason));
    if (this.isStopping) await server.stop();
  }

  /** A server whose owner was killed needs a moment to stop; one that stays has another owner. */
  private async startWhenFree(): Promise<ServerProcess> {
    const since = performance.now();
    for (;;) {
      const state = await lockState(this.cluster);
      const server = state === 'free' ? await this.tryToStart() : undefined;
      if (server) return server;
      if (performance.now() - since > WAIT_MS[state])
        throw new EmbeddedDatabaseError(
          `the embedded database in ${this.cluster} is in use by another process: stop that one, ` +
            'use another BGC_DATA_DIR, or set DATABASE_URL to run several replicas on one database',
        );
      await sleep(LOOK_MS);
    }
  }

  /** Undefined: another process came first, or the last processes of a killed server are still ending. */
  private async tryToStart(): Promise<ServerProcess | undefined> {
    try {
      return await ServerProcess.start(this.command, this.user);
    } catch (error) {
      if (IS_HELD.test(String(error))) return undefined;
      throw error;
    }
  }

  /** The pool, the listener and the calls in flight outlast a short absence of the database. */
  private async died(reason: string): Promise<void> {
    if (this.isStopping) return;
    this.options.logger.warn('database.embedded_died', { reason });
    try {
      if (performance.now() - this.restartedAt < SHORTEST_LIFE_MS)
        throw new EmbeddedDatabaseError(`the embedded PostgreSQL died twice: ${reason}`);
      this.restartedAt = performance.now();
      await this.launch();
      this.options.logger.info('database.embedded_restarted');
    } catch (error) {
      this.options.logger.error('database.embedded_lost', {}, error);
      this.options.onLost();
    }
  }
}

function serverCommand(
  binaries: string,
  cluster: string,
  socketDir: string,
  settings: Record<string, string> = {},
): string[] {
  const all = {
    listen_addresses: '',
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`, // a list, hence the quotes
    unix_socket_permissions: '0700',
    ...settings,
  };
  const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const program = path.join(binaries, 'bin', 'postgres');
  return [program, '-D', cluster, '-p', String(SOCKET_PORT), ...options];
}
