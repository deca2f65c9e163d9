import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Locale } from '../common/locale.js';
import { Logger } from '../common/logger.js';
import { ChannelListener } from '../database/channel-listener.js';
import { Database } from '../database/database.js';
import { RefreshedCopy } from '../database/refreshed-copy.js';
import type { App } from './app.js';
import { AppRepository } from './app.repository.js';

const POLL_MS = 5_000;

/** All apps, in memory. */
@Injectable()
export class AppDirectory implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly copy: RefreshedCopy<ReadonlyMap<string, App>>;

  constructor(
    repository: AppRepository,
    database: Database,
    listener: ChannelListener,
    logger: Logger,
  ) {
    this.copy = new RefreshedCopy<ReadonlyMap<string, App>>({
      channel: 'bgc_apps_changed',
      pollMs: POLL_MS,
      load: async () => new Map((await repository.all(database)).map((app) => [app.id, app])),
      listener,
      logger,
    });
  }

  /** Once all modules are initialised: the first start makes the app `default` before that. */
  async onApplicationBootstrap(): Promise<void> {
    await this.copy.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.copy.stop();
  }

  byId(appId: string): App | undefined {
    return this.copy.current.get(appId);
  }

  all(): App[] {
    return [...this.copy.current.values()];
  }

  /** Undefined: the app has no language of its own, so that of the settings counts. */
  localeOf(appId: string): Locale | undefined {
    return this.byId(appId)?.locale ?? undefined;
  }

  /** Resolves when what was committed before is in force here. @throws DatabaseUnavailableError */
  refresh(): Promise<void> {
    return this.copy.refresh();
  }
}
