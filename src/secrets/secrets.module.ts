import { Module } from '@nestjs/common';
import { Configuration } from '../config/environment.js';
import { KeyRing } from './key-ring.js';
import { SecretBox } from './secret-box.js';
import { readOrCreateSecretsKeys } from './secrets-key-file.js';

/** What seals secrets at rest. */
@Module({
  providers: [{ provide: KeyRing, inject: [Configuration], useFactory: toKeyRing }, SecretBox],
  exports: [SecretBox],
})
export class SecretsModule {}

/** With an external database the environment has them: it is not valid otherwise. */
async function toKeyRing({ secretsKeys, dataDir }: Configuration): Promise<KeyRing> {
  return new KeyRing(secretsKeys ?? (await readOrCreateSecretsKeys(dataDir)));
}
