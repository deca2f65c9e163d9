import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { Logger } from '../common/logger.js';
import { ChannelListener, notifyChannel } from '../database/channel-listener.js';
import { Database } from '../database/database.js';
import { RefreshedCopy } from '../database/refreshed-copy.js';
import { applyPatch, differenceFromDefaults, type SettingsPatch } from './settings-patch.js';
import { DEFAULT_SETTINGS, type SettingsTree } from './settings-tree.js';
import { SettingsRepository } from './settings.repository.js';

const POLL_MS = 5_000;

/** The runtime settings. A change holds for calls that start after it. */
@Injectable()
export class Settings implements OnModuleInit, BeforeApplicationShutdown {
  private readonly copy: RefreshedCopy<SettingsTree>;

  constructor(
    private readonly repository: SettingsRepository,
    private readonly database: Database,
    listener: ChannelListener,
    logger: Logger,
  ) {
    this.copy = new RefreshedCopy({
      channel: 'bgc_settings_changed',
      pollMs: POLL_MS,
      load: async () => applyPatch(DEFAULT_SETTINGS, await repository.read(database)),
      listener,
      logger,
    });
  }

  async onModuleInit(): Promise<void> {
    await this.copy.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.copy.stop();
  }

  /** The whole tree: the defaults with what an administrator changed. */
  get current(): SettingsTree {
    return this.copy.current;
  }

  /**
   * Merges checked values into the settings; they are in force here when this resolves, on other
   * replicas within a second.
   * @throws DatabaseUnavailableError when the database does not answer.
   */
  async update(patch: SettingsPatch): Promise<SettingsTree> {
    const tree = await this.database.transaction(async (tx) => {
      const stored = applyPatch(DEFAULT_SETTINGS, await this.repository.lock(tx));
      const changed = applyPatch(stored, patch);
      await this.repository.save(tx, differenceFromDefaults(changed));
      await notifyChannel(tx, 'bgc_settings_changed');
      return changed;
    });
    await this.copy.refresh();
    return tree;
  }
}
