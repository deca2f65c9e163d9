import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { Logger } from '../../common/logger.js';
import { outsideRequestContext } from '../../common/request-context.js';
import { ChannelListener, notifyChannel } from '../../database/channel-listener.js';
import { Database } from '../../database/database.js';
import { RefreshedCopy } from '../../database/refreshed-copy.js';
import type { ServerState, Sighting, StoredState } from './server-state.js';
import { ServerStateRepository } from './server-state.repository.js';

const CHANNEL = 'bgc_server_states_changed';
const POLL_MS = 30_000;

type ChangeListener = (states: ReadonlyMap<string, StoredState>) => void;

/** What was last seen of the servers, by whichever replica tried last. */
@Injectable()
export class ServerStates implements OnModuleInit, BeforeApplicationShutdown {
  private readonly copy: RefreshedCopy<void>;
  private readonly listeners = new Set<ChangeListener>();
  /** One write after the other, so that what was seen last is what stays. */
  private writing: Promise<unknown> = Promise.resolve();
  private isStopped = false;

  constructor(
    private readonly repository: ServerStateRepository,
    private readonly database: Database,
    private readonly logger: Logger,
    listener: ChannelListener,
  ) {
    const load = (): Promise<void> => this.load();
    this.copy = new RefreshedCopy({ channel: CHANNEL, pollMs: POLL_MS, load, listener, logger });
  }

  async onModuleInit(): Promise<void> {
    await this.copy.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    await this.writing;
    await this.copy.stop();
  }

  /** Called with the states by server id after each load; states of an earlier configuration are not among them. */
  onChange(listener: ChangeListener): void {
    this.listeners.add(listener);
  }

  /** By server id, as they are in the database now. @throws DatabaseUnavailableError */
  async read(serverIds: readonly string[]): Promise<ReadonlyMap<string, ServerState>> {
    return byServer(await this.repository.find(this.database, serverIds));
  }

  /**
   * Writes it down and tells the replicas; never as part of the request that led to it. Resolves when
   * this replica has read it back; undefined when it could not be written, or counts no more.
   */
  record(sighting: Sighting): Promise<StoredState | undefined> {
    return outsideRequestContext(() => {
      const written = this.writing.then(() => this.write(sighting));
      this.writing = written;
      return written;
    });
  }

  private async write(sighting: Sighting): Promise<StoredState | undefined> {
    if (this.isStopped) return undefined;
    try {
      const stored = await this.database.transaction(async (tx) => {
        await notifyChannel(tx, CHANNEL);
        return this.repository.record(tx, sighting);
      });
      await this.copy.refresh();
      return stored;
    } catch (error) {
      this.logger.warn('mcp_server.state_not_written', { serverId: sighting.serverId }, error);
      return undefined;
    }
  }

  private async load(): Promise<void> {
    const states = byServer(await this.repository.all(this.database));
    for (const listener of this.listeners) listener(states);
  }
}

function byServer(states: StoredState[]): Map<string, StoredState> {
  return new Map(states.map((state) => [state.serverId, state]));
}
