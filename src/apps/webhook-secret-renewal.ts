import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Logger } from '../common/logger.js';
import { Database } from '../database/database.js';
import { AppRepository } from './app.repository.js';

/** Seals at start what another key than the first has sealed, so that the other keys may go. */
@Injectable()
export class WebhookSecretRenewal implements OnModuleInit {
  constructor(
    private readonly database: Database,
    private readonly repository: AppRepository,
    private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    const apps = await this.database.transaction((tx) => this.repository.resealAll(tx));
    if (apps > 0) this.logger.info('secrets.resealed', { apps });
  }
}
