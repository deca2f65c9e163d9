import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { ApiKeyDirectory } from './api-key.directory.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { DefaultAppRepository } from './default-app.repository.js';
import { GeneratedKeys } from './generated-keys.js';
import { AudienceGuard } from './http/audience.guard.js';
import { KeyProvisioner } from './key-provisioner.js';

/** Keys, and the guard in front of every route. */
@Global()
@Module({
  providers: [
    ApiKeyDirectory,
    ApiKeyRepository,
    DefaultAppRepository,
    GeneratedKeys,
    KeyProvisioner,
    { provide: APP_GUARD, useClass: AudienceGuard },
  ],
  exports: [ApiKeyDirectory, GeneratedKeys],
})
export class AuthModule implements OnModuleInit {
  constructor(
    private readonly provisioner: KeyProvisioner,
    private readonly keys: ApiKeyDirectory,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.provisioner.provision();
    await this.keys.start();
  }
}
