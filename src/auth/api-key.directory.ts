import { timingSafeEqual } from 'node:crypto';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Logger } from '../common/logger.js';
import { ChannelListener } from '../database/channel-listener.js';
import { Database } from '../database/database.js';
import { RefreshedCopy } from '../database/refreshed-copy.js';
import { type ApiKey, hashKey } from './api-key.js';
import { ApiKeyRepository } from './api-key.repository.js';

const POLL_MS = 30_000;

/** All live keys, in memory: authentication asks the database nothing. */
@Injectable()
export class ApiKeyDirectory implements BeforeApplicationShutdown {
  private readonly copy: RefreshedCopy<ReadonlyMap<string, ApiKey>>;

  constructor(
    repository: ApiKeyRepository,
    database: Database,
    listener: ChannelListener,
    logger: Logger,
  ) {
    this.copy = new RefreshedCopy<ReadonlyMap<string, ApiKey>>({
      channel: 'bgc_keys_changed',
      pollMs: POLL_MS,
      load: async () => byHash(await repository.live(database)),
      listener,
      logger,
    });
  }

  /** Loads the keys and keeps them fresh until the application shuts down. */
  async start(): Promise<void> {
    await this.copy.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.copy.stop();
  }

  /** Undefined for an unknown or revoked key. */
  find(key: string): ApiKey | undefined {
    const hash = hashKey(key);
    const found = this.copy.current.get(hash.toString('hex'));
    return found !== undefined && timingSafeEqual(found.hash, hash) ? found : undefined;
  }
}

function byHash(keys: ApiKey[]): ReadonlyMap<string, ApiKey> {
  return new Map(keys.map((key) => [key.hash.toString('hex'), key]));
}
