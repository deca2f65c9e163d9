import { Module } from '@nestjs/common';
import { SecretsModule } from '../secrets/secrets.module.js';
import { AppDirectory } from './app.directory.js';
import { AppRepository } from './app.repository.js';
import { AppService } from './app.service.js';
import { AppsController } from './http/apps.controller.js';
import { WebhookSecretRenewal } from './webhook-secret-renewal.js';
import { WebhookSecretBox } from './webhook-secrets.js';

/** The tenants: their language, and how their messages go out. */
@Module({
  imports: [SecretsModule],
  controllers: [AppsController],
  providers: [WebhookSecretBox, WebhookSecretRenewal, AppRepository, AppDirectory, AppService],
  exports: [AppDirectory, AppService],
})
export class AppsModule {}
