import { Injectable } from '@nestjs/common';
import { Ids } from '../common/ids.js';
import { Configuration } from '../config/environment.js';
import { notifyChannel } from '../database/channel-listener.js';
import { Database, type Transaction } from '../database/database.js';
import { type Audience, AUDIENCES, generateKey, hashKey, readablePrefix } from './api-key.js';
import { ApiKeyRepository, type NewApiKey } from './api-key.repository.js';
import { DefaultAppRepository } from './default-app.repository.js';
import { GeneratedKeys } from './generated-keys.js';
import { type PlainKeys, saveKeyFile } from './key-file.js';

const DEFAULT_APP = 'default';

/** Sees to it at every start that the app `default` exists and that each audience has a key. */
@Injectable()
export class KeyProvisioner {
  constructor(
    private readonly database: Database,
    private readonly configuration: Configuration,
    private readonly ids: Ids,
    private readonly apps: DefaultAppRepository,
    private readonly keys: ApiKeyRepository,
    private readonly generated: GeneratedKeys,
  ) {}

  /**
   * Keys of the environment replace earlier ones of the environment; where there is neither such a
   * key nor a live one, one is generated and saved before it becomes valid.
   */
  async provision(): Promise<void> {
    await this.database.transaction(async (tx) => {
      // Replicas that start together wait here for one another, so only one of them generates keys.
      const appId = await this.apps.ensureLocked(tx, this.ids.uuid(), DEFAULT_APP);
      await this.fixKeys(tx, appId);
      await this.generateKeys(tx, appId);
      await notifyChannel(tx, 'bgc_keys_changed');
      await notifyChannel(tx, 'bgc_apps_changed');
    });
  }

  private async fixKeys(tx: Transaction, appId: string): Promise<void> {
    for (const audience of AUDIENCES) {
      const key = this.configuration.fixedKeys[audience];
      if (key === undefined) continue;
      await this.keys.revokeOtherFixed(tx, audience, hashKey(key));
      await this.keys.save(tx, this.toRow(key, audience, appId, 'environment'));
    }
  }

  private async generateKeys(tx: Transaction, appId: string): Promise<void> {
    const live = await this.keys.live(tx);
    const missing = AUDIENCES.filter(
      (audience) => !live.some((key) => key.audience === audience && isOf(appId, key.appId)),
    );
    const keys: PlainKeys = {};
    for (const audience of missing) {
      const key = (keys[audience] = generateKey(audience));
      await this.keys.save(tx, this.toRow(key, audience, appId, 'generated'));
    }
    if (missing.length > 0) {
      this.generated.savedIn = await saveKeyFile(this.configuration.dataDir, keys);
      this.generated.keys = keys;
    }
  }

  private toRow(
    key: string,
    audience: Audience,
    appId: string,
    origin: NewApiKey['origin'],
  ): NewApiKey {
    return {
      id: this.ids.uuid(),
      audience,
      appId: audience === 'admin' ? null : appId,
      hash: hashKey(key),
      origin,
      prefix: readablePrefix(key),
    };
  }
}

function isOf(appId: string, boundTo: string | null): boolean {
  return boundTo === null || boundTo === appId;
}
