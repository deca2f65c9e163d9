import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Logger } from '../../common/logger.js';
import { Database } from '../../database/database.js';
import { McpServerRepository } from './mcp-server.repository.js';
import { ServerSecrets } from './server-secrets.js';

/**
 * Seals at start what another key than the first has sealed, and what was stored before secrets were
 * sealed: when every replica has been started with a new first key, the others may go.
 */
@Injectable()
export class SecretRenewal implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly repository: McpServerRepository,
    private readonly secrets: ServerSecrets,
    private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    const servers = await this.database.transaction(async (tx) => {
      let resealed = 0;
      for (const stored of await this.repository.lockAllStored(tx)) {
        const secrets = this.secrets.reseal(stored);
        if (secrets === undefined) continue;
        await this.repository.reseal(tx, stored.id, secrets);
        resealed += 1;
      }
      return resealed;
    });
    if (servers > 0) this.logger.info('secrets.resealed', { servers });
  }
}
