import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ApiKeyDirectory } from './api-key.directory.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { AppDirectory } from './app.directory.js';
import { AppRepository } from './app.repository.js';
import { GeneratedKeys } from './generated-keys.js';
import { AudienceGuard } from './http/audience.guard.js';
import { KeyProvisioner } from './key-provisioner.js';

/** Apps, keys, and the guard in front of every route. */
@Global()
@Module({
  providers: [
    ApiKeyDirectory,
    ApiKeyRepository,
    AppDirectory,
    AppRepository,
    GeneratedKeys,
    KeyProvisioner,
    { provide: APP_GUARD, useClass: AudienceGuard },
  ],
  exports: [ApiKeyDirectory, AppDirectory, GeneratedKeys],
})
export class AuthModule implements OnModuleInit {
  constructor(
    private readonly provisioner: KeyProvisioner,
    private readonly keys: ApiKeyDirectory,
    private readonly apps: AppDirectory,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.provisioner.provision();
    await Promise.all([this.keys.start(), this.apps.start()]);
  }
}
